import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valueErrors } from '../apiserver/custom/validate-value.ts'
import { type CARotationObject, caRotation } from '../kube/rollcall/ca-rotation.ts'
import { planOf, statusOf } from './rotation-object.ts'
import { step } from './step.ts'
import { consumer, later, minutes, planIn, quiet, start } from './testing/quiet-cluster.ts'

const rotation: CARotationObject = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CARotation',
  metadata: { name: 'spring', uid: 'rotation-1' },
  spec: {
    role: 'apiserver-serving',
    reason: 'Scheduled',
    from: 1,
    to: 2,
    author: 'anna',
    policy: { timings: { prove: '1m' } },
    acknowledgements: [{ consumer: 'laptop', by: 'berta', reason: 'looked', at: '2026-06-01T00:00:00Z' }],
  },
}

test('a plan goes through the status of its object and comes back as it was', () => {
  const stepped = step(
    { ...planIn('Proving'), wishes: planOf(rotation, start).wishes },
    quiet({ consumers: [consumer('node-1', 'Agent', { instance: 'boot-2' })] }),
  )
  const status = statusOf(stepped, undefined, start)
  const stored: CARotationObject = JSON.parse(
    JSON.stringify({ ...rotation, spec: { ...rotation.spec, policy: {} }, status }),
  )
  assert.deepEqual(planOf(stored, start + 5), stepped.plan)
})

test('status says in words what it waits for, and conditions keep the time of their last change', () => {
  const unready = quiet({
    consumers: [consumer('node-1', 'Agent', { instance: 'boot-2' }), consumer('node-2')],
  })
  const first = statusOf(step(planIn('Proving'), unready), undefined, start)
  assert.equal(first.phase, 'Proving')
  assert.equal(first.proven, 'TRUST 1/2')
  assert.deepEqual(first.blockers, ['Unproven: node-1 has not proven to have loaded the CA'])
  const second = statusOf(step(planIn('Proving'), later(unready, minutes)), first, start + minutes)
  assert.deepEqual(second.conditions, first.conditions)
  assert.equal(first.conditions?.find(({ type }) => type === 'Blocked')?.reason, 'Unproven')
})

test('what is written fits the schema of the kind', () => {
  const { spec, status: schema } = caRotation
  assert(schema)
  const status = statusOf(step(planIn('Proving'), quiet()), undefined, start)
  assert.deepEqual(valueErrors(schema, JSON.parse(JSON.stringify(status)), 'status'), [])
  assert.deepEqual(valueErrors(spec, rotation.spec, 'spec'), [])
  assert.equal(valueErrors(spec, { ...rotation.spec, role: 'etcd' }, 'spec').length, 1)
})

test('a rotation begins where the last one of its role ended, so that no older order passes for a new one', () => {
  assert.equal(planOf(rotation, start, 41).sequence, 41)
  assert.equal(planOf(rotation, start).policy.timings.prove, minutes)
})
