import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditedDecision } from './audit-entry.ts'
import { RepeatedRefusals } from './repeated-refusals.ts'

const decision = (more: Partial<AuditedDecision>): AuditedDecision => ({
  request: { name: 'r', uid: 'u' },
  signer: 'kubernetes.io/kubelet-serving',
  requester: 'system:node:a',
  outcome: 'Deny',
  reasons: ['Superseded'],
  message: '',
  sans: [],
  ...more,
})

test('attack: a node that is refused ten thousand times within the hour takes a hundred entries and two', () => {
  const refusals = new RepeatedRefusals()
  const kept = Array.from({ length: 10_000 }, () => refusals.keep(decision({}), 0)).filter(
    entry => entry !== undefined,
  )
  assert.equal(kept.length, 102)
  assert.deepEqual(
    kept.slice(99).map(({ repeated }) => repeated),
    [undefined, 1000, 10_000],
  )
  assert.ok(refusals.keep(decision({}), 3_600_000), 'another hour')
})

test('other requesters, signers and reasons, approvals and what others decided are kept all the same', () => {
  const refusals = new RepeatedRefusals()
  for (let count = 0; count < 500; count++) refusals.keep(decision({}), 0)
  assert.equal(refusals.keep(decision({}), 0), undefined)
  for (const other of [
    { requester: 'system:node:b' },
    { signer: 'kubernetes.io/kube-apiserver-client-kubelet' },
    { reasons: ['SanUnproven'] },
    { outcome: 'Approve' },
    { decidedBy: 'Kubectl: ' },
  ])
    assert.ok(refusals.keep(decision(other), 0), JSON.stringify(other))
})
