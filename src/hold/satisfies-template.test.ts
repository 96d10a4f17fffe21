import assert from 'node:assert/strict'
import { test } from 'node:test'
import { servingTemplate } from '../join/template.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { lackOf } from './satisfies-template.ts'

const authority = await createTestAuthority(seededRandom(1))
const lifetime = { notBefore: 0, notAfter: 86_400_000 }
const addresses = [
  { type: 'InternalIP', address: '192.0.2.1' },
  { type: 'InternalIP', address: '2001:db8::1' },
  { type: 'Hostname', address: 'node-a' },
]
const template = servingTemplate('node-a', addresses, 'Ed25519')
assert.ok(template)
const { chain } = await authority.issue(template, lifetime)
const [certificate] = parseCertificatesPem(chain) as [Certificate]

test('K-34: a certificate with all that is wanted lacks nothing, and extra SANs do not matter', () => {
  assert.equal(lackOf(certificate, template), undefined)
  assert.equal(lackOf(certificate, { ...template, dnsNames: [], ipAddresses: ['192.0.2.1'] }), undefined)
})

test('K-34: a wanted name, address or organization that is missing is named', () => {
  const lack = (change: object) => lackOf(certificate, { ...template, ...change })
  assert.equal(lack({ dnsNames: ['node-a', 'b'] }), 'it does not hold the DNS name b')
  assert.equal(
    lack({ ipAddresses: ['192.0.2.2', '2001:db8::1'] }),
    'it does not hold the IP address 192.0.2.2',
  )
  assert.equal(
    lack({ organizations: ['system:masters'] }),
    'it does not hold the organization system:masters',
  )
  assert.equal(
    lack({ commonName: 'system:node:b' }),
    'the common name is "system:node:node-a", wanted is "system:node:b"',
  )
})
