import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import 'reflect-metadata'
import { X509Certificate as PeculiarCertificate } from '@peculiar/x509'
import { openssl } from '../testing/openssl.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../x509/certificate.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { generateSigner, type KeyAlgorithm } from './private-key.ts'
import { issueCertificate, selfSignedCa } from './self-signed.ts'

const folder = mkdtempSync(join(tmpdir(), 'self-signed-'))
after(() => rmSync(folder, { recursive: true }))

const day = 86_400_000
const now = Date.UTC(2031, 5, 1)
const times = { notBefore: now - day, notAfter: now + day }
const subject = nameOf({ commonName: 'system:node:n1', organizations: ['system:nodes', 'a'] })
const extensions = { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] } as const

async function pair(algorithm: KeyAlgorithm) {
  const random = seededRandom(1)
  const signer = generateSigner(algorithm, random)
  const caPem = await selfSignedCa({ commonName: 'kubernetes', signer, random, ...times })
  const [ca] = parseCertificatesPem(caPem) as [Certificate]
  const holder = generateSigner('Ed25519', random)
  const leafPem = await issueCertificate({
    ca: { certificate: ca, signer },
    subject,
    spki: holder.publicKey,
    random,
    ...times,
    extensions,
  })
  const [leaf] = parseCertificatesPem(leafPem) as [Certificate]
  return { caPem, leafPem, ca, leaf }
}

for (const algorithm of ['ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'Ed25519'] satisfies KeyAlgorithm[]) {
  test(`openssl, @peculiar/x509 and we verify what an ${algorithm} CA issues`, async () => {
    const { caPem, leafPem, ca, leaf } = await pair(algorithm)
    assert.deepEqual(verifyChain([leaf], [ca], { now, usage: 'clientAuth' }), { ok: true })
    const caFile = join(folder, `${algorithm}.crt`)
    writeFileSync(caFile, caPem)
    const strict = [
      'verify',
      '-x509_strict',
      '-purpose',
      'sslclient',
      '-attime',
      String(now / 1000),
      '-CAfile',
      caFile,
    ]
    const { status, text } = openssl(strict, leafPem)
    assert.equal(status, 0, text)
    const oracle = { ca: new PeculiarCertificate(caPem), leaf: new PeculiarCertificate(leafPem) }
    assert.ok(await oracle.leaf.verify({ publicKey: oracle.ca.publicKey, date: new Date(now) }))
    assert.ok(await oracle.ca.verify({ date: new Date(now) }))
  })
}

test("the CA looks like kubeadm's", async () => {
  const { ca } = await pair('Ed25519')
  assert.deepEqual(ca.basicConstraints, { ca: true })
  assert.deepEqual(ca.keyUsage, ['digitalSignature', 'keyEncipherment', 'keyCertSign'])
  assert.deepEqual([ca.subjectAltName.dnsNames, ca.subjectKeyIdentifier?.length], [['kubernetes'], 20])
})

test('a leaf copies the raw name and the key identifier of its CA and has none of its own', async () => {
  const { ca, leaf } = await pair('Ed25519')
  assert.deepEqual(leaf.issuer.raw, ca.subject.raw)
  assert.deepEqual(leaf.authorityKeyIdentifier, ca.subjectKeyIdentifier)
  assert.equal(leaf.subjectKeyIdentifier, undefined)
  assert.deepEqual(leaf.basicConstraints, { ca: false })
  assert.deepEqual(leaf.subject, subject)
})

test('with an Ed25519 key a seed gives the same certificates, byte for byte', async () => {
  const [one, two] = [await pair('Ed25519'), await pair('Ed25519')]
  assert.equal(one.caPem + one.leafPem, two.caPem + two.leafPem)
})
