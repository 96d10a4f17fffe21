import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { generateSigner } from '../keys/private-key.ts'
import { formatTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, type CsrCondition, signerNames } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import type { ControllerLease, CsrFacts } from './csr-facts.ts'
import { explainCsr } from './explain-csr.ts'
import { exitCodeOf, shellWord } from './explanation.ts'

const now = Date.UTC(2026, 2, 1, 12)
const minute = 60_000
const pem = await signedRequest({
  signer: generateSigner('Ed25519', seededRandom(1)),
  commonName: 'system:node:worker-1',
})
const lease = (name: string, live: boolean): ControllerLease => ({
  name,
  holder: 'cp-1',
  renewedAgo: live ? 1 : 900,
  live,
})

function facts(
  more: Partial<CsrFacts> & { conditions?: CsrCondition[]; signerName?: string; age?: number } = {},
): CsrFacts {
  const { conditions = [], signerName = signerNames.kubeletClient, age = 5 * minute, ...rest } = more
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1', creationTimestamp: formatTime(now - age) },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages: ['digital signature', 'client auth'],
      username: 'system:node:worker-1',
      groups: ['system:nodes', 'system:authenticated'],
    },
    status: { conditions },
  }
  return { csr, now, unchecked: [], ...rest }
}

const condition = (type: string, age = 5 * minute): CsrCondition => ({
  type,
  status: 'True',
  reason: 'R',
  message: 'M',
  lastUpdateTime: formatTime(now - age),
})

test('renewals that no role allows are told from first requests that none allows', () => {
  const renewal = explainCsr(facts({ access: { tried: ['selfnodeclient', 'nodeclient'] } }))
  assert.equal(renewal.code, 'NotAuthorised')
  assert.match(renewal.commands[0]?.run ?? '', /certificate-rotation.*selfnodeclient --group=system:nodes$/)
  const first = explainCsr(facts({ access: { tried: ['nodeclient'] } }))
  assert.match(
    first.commands[0]?.run ?? '',
    /autoapprove-bootstrap.*nodeclient --group=system:bootstrappers:/,
  )
})

test('what is found is added to who asked for what', () => {
  const { evidence } = explainCsr(facts({ access: { tried: ['nodeclient'] } }))
  const sources = evidence.map(({ source }) => source.split(' ')[0])
  assert.deepEqual(sources, ['status.conditions', 'spec.username', 'subject', 'SubjectAccessReview'])
})

test('an allowed request waits for a controller, dead or slow', () => {
  const access = { tried: ['selfnodeclient'], allowed: 'selfnodeclient' } as const
  const dead = explainCsr(facts({ access, leases: [lease('kube-controller-manager', false)] }))
  assert.equal(dead.code, 'NoApprover')
  assert.match(dead.summary, /no running approver/)
  assert.ok(dead.evidence.some(({ fact }) => fact === 'stale: held by cp-1, last renewed 900 s ago'))
  const slow = explainCsr(facts({ access, leases: [lease('kube-controller-manager', true)] }))
  assert.match(slow.summary, /a controller runs, but it did not approve in 5m/)
  assert.equal(explainCsr(facts({ access, age: 30_000 })).code, undefined)
})

test('kube-controller-manager is no approver of serving requests', () => {
  const serving = { signerName: signerNames.kubeletServing, leases: [lease('kube-controller-manager', true)] }
  assert.match(explainCsr(facts(serving)).summary, /no running approver for kubernetes\.io\/kubelet-serving/)
  const leases = [...serving.leases, lease('rollcall', true)]
  assert.match(explainCsr(facts({ ...serving, leases })).summary, /a controller runs/)
})

test('requests for other signers wait for an operator', () => {
  const other = explainCsr(facts({ signerName: 'example.com/x' }))
  assert.equal(other.code, 'NeedsOperator')
  assert.match(other.waitsFor ?? '', /operator/)
})

test('approved requests get a minute, then the signer is missed by name', () => {
  const approved = (age: number) => facts({ conditions: [condition('Approved', age)], leases: [] })
  assert.equal(explainCsr(approved(30_000)).code, undefined)
  assert.equal(explainCsr(approved(2 * minute)).code, 'NoSigner')
  const foreign = facts({ conditions: [condition('Approved')], signerName: 'example.com/x' })
  assert.match(explainCsr(foreign).summary, /example\.com\/x is not part of Kubernetes/)
})

test('a certificate that cannot be read is found', () => {
  const issued = facts({ conditions: [condition('Approved')] })
  issued.csr.status = { ...issued.csr.status, certificate: Buffer.from('hello').toString('base64') }
  assert.equal(explainCsr(issued).code, 'CertificateUnreadable')
})

test('a request that cannot be read is found', () => {
  const broken = facts()
  broken.csr.spec.request = 'AAAA'
  const { code, commands } = explainCsr(broken)
  assert.equal(code, 'Unreadable')
  assert.equal(commands[0]?.run, "rollcall csr deny csr-1 --reason 'why'")
})

test('what could not be looked at matters only where nothing was found', () => {
  const unchecked = ['Leases: forbidden']
  assert.equal(exitCodeOf(explainCsr(facts({ age: 0, unchecked }))), 4)
  assert.equal(exitCodeOf(explainCsr(facts({ age: 0 }))), 0)
  assert.equal(exitCodeOf(explainCsr(facts({ unchecked, conditions: [condition('Denied')] }))), 3)
})

test('names that a shell would take apart are quoted', () => {
  assert.equal(shellWord('node-csr-x:1'), 'node-csr-x:1')
  assert.equal(shellWord("a'; rm -rf /"), `'a'\\''; rm -rf /'`)
})

test('every request has an explanation with a state, a summary and evidence', () => {
  const types = fc.constantFrom('Approved', 'Denied', 'Failed', 'Other')
  const conditions = fc.array(
    fc.record(
      {
        type: types,
        status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
        reason: fc.string(),
        message: fc.string(),
        lastUpdateTime: fc.constantFrom(formatTime(now), formatTime(now + minute), formatTime(0)),
      },
      { requiredKeys: ['type', 'status'] },
    ),
    { maxLength: 4 },
  )
  const status = fc.record({ conditions, certificate: fc.base64String() }, { requiredKeys: [] })
  fc.assert(
    fc.property(
      status,
      fc.constantFrom(...Object.values(signerNames), 'example.com/x'),
      fc.oneof(fc.constant(Buffer.from(pem).toString('base64')), fc.base64String()),
      fc.boolean(),
      (status, signerName, request, withLeases) => {
        const given = facts({ signerName, ...(withLeases && { leases: [lease('rollcall', true)] }) })
        given.csr.spec.request = request
        given.csr.status = status
        const explanation = explainCsr(given)
        assert.ok(explanation.summary !== '' && explanation.evidence.length > 0)
        assert.ok(!explanation.code || exitCodeOf(explanation) === 3)
      },
    ),
  )
})
