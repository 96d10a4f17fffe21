import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { valueErrors } from '../apiserver/custom/validate-value.ts'
import { trustConsumer } from '../kube/rollcall/trust-consumer.ts'
import type { ConsumerFacts } from '../rollover/observations.ts'
import { consumerObject, objectName } from './consumer-object.ts'

const now = Date.parse('2026-06-01T00:00:00Z')
const facts: ConsumerFacts = {
  id: 'kubelet/node-1',
  kind: 'Kubelet',
  roles: ['client'],
  instance: 'boot-1/812/4711',
  lastSeen: now,
  orderable: true,
  reloads: true,
  proof: { level: 2, generation: 7, instance: 'boot-1/812/4711', at: now },
}

test('a consumer is one object for all roles, and each role keeps its proof', () => {
  const first = consumerObject(facts, 'client', 'Live')
  const second = consumerObject(
    { ...facts, roles: ['apiserver-serving'] },
    'apiserver-serving',
    'Live',
    first,
  )
  assert.deepEqual(second.spec.roles, ['apiserver-serving', 'client'])
  assert.deepEqual(
    second.status?.proofs?.map(({ role, level }) => `${role} ${level}`),
    ['apiserver-serving 2', 'client 2'],
  )
  const { spec, status } = trustConsumer
  assert(status)
  assert.deepEqual(
    [...valueErrors(spec, second.spec, 'spec'), ...valueErrors(status, second.status, 'status')],
    [],
  )
})

test('every id has a name that Kubernetes takes, and another id another one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ maxLength: 20 }), (one, other) => {
      assert.match(objectName(one), /^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$/)
      assert(one === other || objectName(one) !== objectName(other))
    }),
  )
  assert.match(objectName('kubelet/node-1'), /^kubelet-node-1-[0-9a-f]{8}$/)
})
