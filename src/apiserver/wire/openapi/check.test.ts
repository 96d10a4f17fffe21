import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../kube/types.ts'
import { allResources } from '../../resources/index.ts'
import { dropEmptyFields, dropUnknownFields, unknownFields, wrongType } from './check.ts'
import { schemaOf } from './schema.ts'

const object = (kind: string, fields: Record<string, unknown>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a' },
  ...fields,
})

test('every resource that is served has a schema', () => {
  for (const resource of allResources.filter(one => !one.stored || !one.structural))
    assert.equal(schemaOf(resource).name, resource.kind)
})

test('unknown fields are named by their path and can be dropped', () => {
  const node = object('Node', {
    metadata: { name: 'a', labels: { any: 'thing' }, colour: 1 },
    spec: {
      taints: [
        { key: 'k', effect: 'NoSchedule' },
        { key: 'l', efect: 'x' },
      ],
      unschedulabel: true,
    },
    status: { capacity: { cpu: '1' }, nodeInfo: { swap: { capacity: 1 } } },
    extra: {},
  })
  assert.deepEqual(unknownFields({ kind: 'Node' }, node), [
    'metadata.colour',
    'spec.taints[1].efect',
    'spec.unschedulabel',
    'extra',
  ])
  dropUnknownFields({ kind: 'Node' }, node)
  assert.deepEqual(unknownFields({ kind: 'Node' }, node), [])
  assert.deepEqual(Object.keys(node), ['apiVersion', 'kind', 'metadata', 'spec', 'status'])
})

test('fields named like properties of every object are unknown too', () => {
  const map = object('ConfigMap', { constructor: {}, data: { constructor: 'fine', toString: 'fine' } })
  assert.deepEqual(unknownFields({ kind: 'ConfigMap' }, map), ['constructor'])
})

test('a value of the wrong type is refused in the words of the JSON decoder', () => {
  const cases: [string, Record<string, unknown>, string | undefined][] = [
    ['ConfigMap', { data: { a: 'b' }, immutable: null }, undefined],
    [
      'ConfigMap',
      { data: { a: 1 } },
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'ConfigMap',
      { data: 'x' },
      'json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string',
    ],
    ['ConfigMap', { binaryData: { a: 'b' } }, 'illegal base64 data at input byte 0'],
    [
      'CertificateSigningRequest',
      { spec: { usages: 'client auth' } },
      'json: cannot unmarshal string into Go struct field CertificateSigningRequestSpec.spec.usages of type []string',
    ],
    [
      'CertificateSigningRequest',
      { spec: { expirationSeconds: 1.5 } },
      'json: cannot unmarshal number into Go struct field CertificateSigningRequestSpec.spec.expirationSeconds of type int32',
    ],
    ['CertificateSigningRequest', { spec: { extra: { a: ['b'] } } }, undefined],
    [
      'CertificateSigningRequest',
      { status: [] },
      'json: cannot unmarshal array into Go struct field CertificateSigningRequest.status of type CertificateSigningRequestStatus',
    ],
    ['Lease', { spec: { renewTime: '2026-01-01T00:00:00.123456Z' } }, undefined],
    [
      'Lease',
      { spec: { renewTime: '2026-01-01T00:00:00Z' } },
      'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "2026-01-01T00:00:00Z" as a time',
    ],
    ['Node', { status: { capacity: { cpu: '100m', memory: '24684096Ki', x: 2 } } }, undefined],
    [
      'Node',
      { status: { conditions: [1] } },
      'json: cannot unmarshal number into Go struct field NodeStatus.status.conditions of type NodeCondition',
    ],
    [
      'ServiceAccount',
      { automountServiceAccountToken: 'yes' },
      'json: cannot unmarshal string into Go struct field ServiceAccount.automountServiceAccountToken of type bool',
    ],
  ]
  for (const [kind, fields, expected] of cases) {
    assert.equal(wrongType({ kind }, object(kind, fields)), expected, JSON.stringify(fields))
  }
})

test('lists and maps without content are left out, as omitempty does, where the type may go without them', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', labels: {}, finalizers: [] },
    spec: { taints: [] },
  }
  dropEmptyFields({ kind: 'Node' }, node)
  assert.deepEqual(node, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: {} })
})
