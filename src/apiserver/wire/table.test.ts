import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeNode } from '../../kube/types.ts'
import { nodes } from '../resources/nodes.ts'
import { ApiError } from './api-error.ts'
import { includeObjectOf, tableOf } from './table.ts'

const node: KubeNode = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'worker-1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { unschedulable: true },
  status: {
    conditions: [{ type: 'Ready', status: 'True' }],
    addresses: [{ type: 'InternalIP', address: '192.0.2.2' }],
    nodeInfo: {
      kubeletVersion: 'v1.36.0',
      osImage: 'Debian',
      kernelVersion: '6.18',
      architecture: 'amd64',
      containerRuntimeVersion: 'containerd://2.1',
    },
  },
}
const now = Date.parse('2026-01-01T00:00:23Z')

test('a table has the cells that kubectl get nodes -o wide prints', () => {
  const table = tableOf(nodes, [node], { now, listMeta: { resourceVersion: '7' } })
  assert.deepEqual(table.metadata, { resourceVersion: '7' })
  assert.deepEqual(
    table.columnDefinitions?.map(({ name, priority }) => `${name}${priority}`),
    [
      'Name0',
      'Status0',
      'Roles0',
      'Age0',
      'Version0',
      'Internal-IP1',
      'External-IP1',
      'OS-Image1',
      'Kernel-Version1',
      'Container-Runtime1',
    ],
  )
  assert.deepEqual(table.rows[0]?.cells, [
    'worker-1',
    'Ready,SchedulingDisabled',
    '<none>',
    '23s',
    'v1.36.0',
    '192.0.2.2',
    '<none>',
    'Debian',
    '6.18 (amd64)',
    'containerd://2.1',
  ])
})

test('a row carries metadata, the whole object or nothing, as asked', () => {
  const objectOf = (includeObject: 'None' | 'Metadata' | 'Object') =>
    (tableOf(nodes, [node], { now, includeObject }).rows[0] as { object?: { kind: string } }).object?.kind
  assert.equal(objectOf('Metadata'), 'PartialObjectMetadata')
  assert.equal(objectOf('Object'), 'Node')
  assert.equal(objectOf('None'), undefined)
  assert.equal(includeObjectOf(null), 'Metadata')
  assert.throws(() => includeObjectOf('All'), ApiError)
})

test('the later events of a watch come without columns', () => {
  assert.equal(tableOf(nodes, [node], { now, includeColumns: false }).columnDefinitions, null)
})
