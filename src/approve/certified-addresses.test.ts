import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signerNames } from '../kube/types.ts'
import { servingFacts } from '../testing/judged-request.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { CertifiedIndex } from './certified-addresses.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const authority = await createTestAuthority(seededRandom(1))
const template = {
  signerName: signerNames.kubeletServing,
  commonName: 'system:node:a',
  organizations: ['system:nodes'],
  dnsNames: ['A.example'],
  ipAddresses: ['10.0.0.1', 'fd00::1'],
  usages: ['digital signature', 'server auth'],
}
const { chain: pem } = await authority.issue(template, { notBefore: now, notAfter: now + 3_600_000 })
const issued = (changes = {}) => {
  const { csr } = servingFacts()
  const certificate = Buffer.from(pem).toString('base64')
  return { ...csr, metadata: { ...csr.metadata, uid: 'u' }, status: { certificate }, ...changes }
}

test('a certificate holds its names, in canonical form, until it expires', () => {
  const index = new CertifiedIndex()
  index.see(issued(), now)
  const holders = (canonical: string, at = now) =>
    index.holders(canonical, at).map(({ nodeName }) => nodeName)
  assert.deepEqual([holders('a.example'), holders('10.0.0.1'), holders('fd00::1')], [['a'], ['a'], ['a']])
  assert.deepEqual(holders('10.0.0.2'), [])
  assert.deepEqual(holders('10.0.0.1', now + 3_600_000), [])
})

test('what is approved is held from that moment, and no more when it failed', () => {
  const index = new CertifiedIndex()
  index.reserve('u', 'b', ['10.0.0.9'])
  assert.deepEqual(index.holders('10.0.0.9', now), [{ nodeName: 'b', until: Number.POSITIVE_INFINITY }])
  index.see(issued({ status: { conditions: [{ type: 'Failed', status: 'True' }] } }), now)
  assert.deepEqual(index.holders('10.0.0.9', now), [])
})

test('what another approver denied is held no more', () => {
  const index = new CertifiedIndex()
  index.reserve('u', 'b', ['10.0.0.9'])
  index.see(issued({ status: { conditions: [{ type: 'Denied', status: 'True' }] } }), now)
  assert.deepEqual(index.holders('10.0.0.9', now), [])
})

test('the longest certificate of a node and signer tells when it is out of service', () => {
  const index = new CertifiedIndex()
  assert.equal(index.expiryOf(signerNames.kubeletServing, 'a'), undefined)
  index.see(issued(), now)
  assert.equal(index.expiryOf(signerNames.kubeletServing, 'a'), now + 3_600_000)
  assert.equal(index.expiryOf(signerNames.kubeletClient, 'a'), undefined)
})

test('certificates of other signers, expired ones and what is no certificate count for nothing', () => {
  const index = new CertifiedIndex()
  index.see(issued({ spec: { ...issued().spec, signerName: signerNames.kubeletClient } }), now)
  index.see(issued(), now + 3_600_000)
  index.see(issued({ status: { certificate: 'eA==' } }), now)
  assert.deepEqual(index.holders('10.0.0.1', now), [])
})
