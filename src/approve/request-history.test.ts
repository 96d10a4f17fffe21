import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { RequestHistoryIndex } from './request-history.ts'

const [minute, hour] = [60_000, 3_600_000]
const now = Date.parse('2026-05-01T12:00:00Z')

function asked(name: string, created: number, decided?: 'Approved' | 'Denied'): CertificateSigningRequest {
  const time = new Date(created).toISOString()
  const condition = { type: decided ?? '', status: 'True', lastUpdateTime: time } as const
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, creationTimestamp: time },
    spec: {
      request: '',
      signerName: 'kubernetes.io/kubelet-serving',
      usages: [],
      username: 'system:node:node-a',
      groups: ['system:nodes', 'system:authenticated'],
    },
    ...(decided && { status: { conditions: [condition] } }),
  }
}

test('the newest request of a node and signer puts the older ones aside', () => {
  const history = new RequestHistoryIndex()
  const [old, young] = [asked('old', now - minute), asked('young', now)]
  for (const csr of [young, old]) history.see(csr, undefined, now)
  assert.equal(history.of(old, now)?.newer, 'young')
  assert.equal(history.of(young, now)?.newer, undefined)
  assert.deepEqual(history.older(young, now), ['old'])
})

test('what was asked and decided while the clock was six hours fast does not stand against requests of today', () => {
  const history = new RequestHistoryIndex()
  const fast = now + 6 * hour
  for (let count = 0; count < 6; count++)
    history.see(asked(`fast-${count}`, fast, count < 3 ? 'Approved' : 'Denied'), undefined, fast)
  // The clock was set.
  const [first, second] = [asked('first', now), asked('second', now + minute)]
  history.see(first, undefined, now)
  assert.deepEqual(history.of(first, now), { approvals: 0, denials: 0 })
  history.see(second, undefined, now + minute)
  assert.equal(history.of(first, now + minute)?.newer, 'second')
  assert.equal(history.of(second, now + minute)?.newer, undefined)
})

test('a controller whose clock is a few minutes slow still sees which request is newer', () => {
  const history = new RequestHistoryIndex()
  const [old, young] = [asked('old', now), asked('young', now + minute)]
  for (const csr of [old, young]) history.see(csr, undefined, now - 3 * minute)
  assert.equal(history.of(old, now - 3 * minute)?.newer, 'young')
})
