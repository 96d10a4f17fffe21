import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CertificateSigningRequest, type CsrCondition, signerNames } from '../kube/types.ts'
import { requestNumbers, signerLabel } from './metrics-requests.ts'

const now = Date.parse('2026-05-01T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
const known = new Set(['SanUnproven', 'Superseded'])

interface Made {
  /** Minutes since it was made. */
  age: number
  by?: string
  signer?: string
  /** `TYPE REASON MINUTES` of a condition set so many minutes ago. */
  condition?: string
  issued?: boolean
}

function request({
  age,
  by = 'system:node:a',
  signer = signerNames.kubeletServing,
  condition,
  issued,
}: Made) {
  const [type = '', reason = '', minutes = 0] = condition?.split(' ') ?? []
  const conditions = [
    { type, status: 'True', reason, lastUpdateTime: minutesAgo(Number(minutes)) },
  ] as CsrCondition[]
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `csr-${age}`, creationTimestamp: minutesAgo(age) },
    spec: { request: '', signerName: signer, usages: [], username: by },
    status: { ...(condition && { conditions }), ...(issued && { certificate: 'x' }) },
  }
  return csr
}

const numbers = (...made: Made[]) => {
  const found = requestNumbers(made.map(request), now, known).get(signerNames.kubeletServing)
  assert.ok(found)
  return found
}

test('a wait goes on while a kubelet replaces the request every 15 minutes', () => {
  const { longestWait, waiting } = numbers({ age: 40 }, { age: 25 }, { age: 10 })
  assert.equal(longestWait, 2400)
  assert.deepEqual(waiting, { under_5m: 0, '5m_to_1h': 1, '1h_to_24h': 0, over_24h: 0 })
})

test('an answer to the newest request ends the wait, however many older ones were left behind', () => {
  const answered = { age: 10, condition: 'Approved x 9', issued: true }
  assert.equal(numbers({ age: 40 }, { age: 25 }, answered).longestWait, 0)
  assert.equal(numbers({ age: 40 }, answered, { age: 3 }).longestWait, 180)
})

test('a request put aside for a newer one was not answered', () => {
  assert.equal(numbers({ age: 25, condition: 'Denied Superseded 10' }, { age: 10 }).longestWait, 600)
  assert.equal(
    numbers({ age: 40 }, { age: 25, condition: 'Denied Superseded 10' }, { age: 10 }).longestWait,
    2400,
  )
})

test('one node’s answer is not another’s', () => {
  const { longestWait } = numbers(
    { age: 20, by: 'b' },
    { age: 5, by: 'c', condition: 'Denied SanUnproven 4' },
  )
  assert.equal(longestWait, 1200)
})

test('approved and neither signed nor failed counts from the approval', () => {
  const { unsigned, longestUnsigned, stored } = numbers(
    { age: 60, condition: 'Approved x 3' },
    { age: 60, by: 'b', condition: 'Approved x 50', issued: true },
    { age: 60, by: 'c', condition: 'Failed SignerValidationFailure 50' },
  )
  assert.deepEqual([unsigned, longestUnsigned], [1, 180])
  assert.deepEqual(stored, { pending: 0, approved: 1, issued: 1, denied: 0, failed: 1 })
})

test('refusals of the last 15 minutes by reason; one that somebody made up is other', () => {
  const { rejected } = numbers(
    { age: 20, condition: 'Denied SanUnproven 1' },
    { age: 21, condition: 'Denied SanUnproven 14' },
    { age: 22, condition: 'Denied SanUnproven 16' },
    { age: 23, condition: 'Denied evil-7 2' },
    { age: 24, condition: 'Failed evil-8 2' },
  )
  assert.deepEqual(rejected, [
    { condition: 'Denied', reason: 'SanUnproven', count: 2 },
    { condition: 'Denied', reason: 'other', count: 1 },
    { condition: 'Failed', reason: 'other', count: 1 },
  ])
})

test('the node that asks most often within the hour', () => {
  const storm = [1, 2, 3, 4, 5, 59, 61].map(age => ({ age, by: 'system:node:storm' }))
  assert.equal(numbers(...storm, { age: 1 }).mostOfOneNode, 6)
})

test('signers that anybody may name are one; the kubelet’s two are there while nobody asks', () => {
  assert.equal(signerLabel('example.com/7'), 'other')
  const made = ['a.example/x', 'b.example/y'].map(signer => request({ age: 1, signer }))
  const found = requestNumbers(made, now, known)
  assert.deepEqual([...found.keys()], [signerNames.kubeletClient, signerNames.kubeletServing, 'other'])
  assert.equal(found.get('other')?.stored.pending, 2)
})

test('M2: what counts as pending is everybody who waits, by signer, also who is no node and who has waited for long', () => {
  const client = signerNames.kubeletClient
  const rows: [made: Made, waiting: number][] = [
    [{ age: 1, by: 'system:bootstrap:abcdef', signer: client }, 1],
    [{ age: 1, by: 'system:node:b' }, 1],
    // Others leave these two out, whose gauge is a limit: nobody would look for them.
    [{ age: 1, by: 'eve' }, 1],
    [{ age: 60, by: 'system:node:c' }, 1],
    [{ age: 1, by: 'system:node:d', condition: 'Approved x 0' }, 0],
    [{ age: 1, by: 'system:node:e', condition: 'Denied SanUnproven 0' }, 0],
    [{ age: 1, by: 'system:node:f', condition: 'Failed x 0' }, 0],
    [{ age: -1 / 6, by: 'system:node:g' }, 1],
    [{ age: 1, by: 'multus', signer: 'multus.example/client' }, 0],
  ]
  const waitingOf = (made: Made[]) => {
    const found = requestNumbers(made.map(request), now, known)
    const of = [client, signerNames.kubeletServing].flatMap(signer =>
      Object.values(found.get(signer)?.waiting ?? {}),
    )
    return of.reduce((sum, count) => sum + count, 0)
  }
  for (const [made, waiting] of rows) assert.equal(waitingOf([made]), waiting, JSON.stringify(made))
  assert.equal(waitingOf(rows.map(([made]) => made)), 5)
})
