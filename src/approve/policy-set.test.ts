import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { PolicySet } from './policy-set.ts'

const good: CertificatePolicySpec = { evidence: 'NodeStatus' }
let revisions = 0
const given = (name: string, spec: CertificatePolicySpec, ...problems: string[]) => ({
  name,
  spec,
  problems,
  revision: String(++revisions),
})
const told = (set: PolicySet, name: string) =>
  set.standing(name).map(({ type, status, reason }) => `${type}=${status} ${reason}`)

test('a policy that cannot be used leaves its last good version in force, and says so', () => {
  const set = new PolicySet()
  set.put(given('default', good))
  set.put(given('default', { evidence: 'Inventory' }, 'spec: bad'))
  assert.equal(set.inForce()?.policy.evidence, 'NodeStatus')
  assert.deepEqual(told(set, 'default'), ['Accepted=False Invalid', 'InForce=True LastGood'])
  set.put(given('default', { preset: 'strict' }))
  assert.equal(set.inForce()?.policy.evidence, 'ProtectedNodeStatus')
})

test('one that never could be used is no policy', () => {
  const set = new PolicySet()
  set.put(given('default', good, 'spec: bad'))
  assert.equal(set.inForce(), undefined)
  assert.deepEqual(told(set, 'default'), ['Accepted=False Invalid', 'InForce=False Invalid'])
})

test('a shadow never is in force, not even when it takes the name of what is', () => {
  const set = new PolicySet()
  set.put(given('default', { ...good, shadowOf: 'other' }))
  assert.equal(set.inForce(), undefined)
  set.put(given('default', good))
  for (const name of ['f', 'e', 'd', 'c', 'b']) set.put(given(name, { ...good, shadowOf: 'default' }))
  assert.deepEqual(
    set.shadows().map(({ name }) => name),
    ['b', 'c', 'd', 'e'],
  )
  assert.deepEqual(told(set, 'f'), ['Accepted=True Accepted', 'InForce=False TooManyShadows'])
})
