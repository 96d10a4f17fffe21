import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { generateSigner, type KeyAlgorithm } from '../keys/private-key.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import type { Signer } from '../keys/signer.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../x509/certificate.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { crossSigned, isCrossSigned, newCaCertificate } from './bridge.ts'

const now = Date.parse('2026-06-01T00:00:00Z')
const year = 365 * 86_400_000
const random = seededRandom(8)

const one = (pem: string): Certificate => {
  const [certificate] = parseCertificatesPem(pem)
  if (certificate === undefined) throw new Error('no certificate')
  return certificate
}

async function ca(
  generation: number,
  algorithm: KeyAlgorithm,
  signer: Signer = generateSigner(algorithm, random),
) {
  const times = { notBefore: now - year, notAfter: now + generation * year }
  const pem = await newCaCertificate({ role: 'apiserver-serving', generation, signer, ...times, random })
  return { certificate: one(pem), signer }
}

async function leafOf(issuer: { certificate: Certificate; signer: Signer }) {
  const spki = generateSigner('ECDSA-P256', random).publicKey
  const extensions = { extendedKeyUsage: [oids.serverAuth], subjectAltName: { dnsNames: ['kubernetes'] } }
  const times = { notBefore: now - 1000, notAfter: now + year / 2 }
  return one(
    await issueCertificate({
      ca: issuer,
      subject: nameOf({ commonName: 'kubernetes' }),
      spki,
      ...times,
      random,
      extensions,
    }),
  )
}

for (const [before, after] of [
  ['RSA-2048', 'ECDSA-P256'],
  ['ECDSA-P256', 'ECDSA-P384'],
] as const)
  test(`from ${before} to ${after}: the bridged chain verifies with the old root alone, the new alone, and both`, async () => {
    const old = await ca(1, before)
    const fresh = await ca(2, after)
    const bridge = one(await crossSigned({ subject: fresh.certificate, issuer: old, random }))
    const leaf = await leafOf(fresh)
    const verifies = (chain: Certificate[], roots: Certificate[]) =>
      verifyChain(chain, roots, { now, usage: 'serverAuth' }).ok
    for (const roots of [[old.certificate], [fresh.certificate], [old.certificate, fresh.certificate]])
      assert.equal(verifies([leaf, bridge], roots), true)
    assert.equal(verifies([leaf], [old.certificate]), false, 'the bare chain is for who trusts the new CA')
    assert.equal(isCrossSigned(bridge, fresh.certificate, old.certificate), true)
    assert.equal(isCrossSigned(bridge, old.certificate, fresh.certificate), false)
    assert.equal(bridge.notAfter, old.certificate.notAfter)
  })

test('CAs of one key, or an issuer that may sign no CA, are not bridged', async () => {
  const old = await ca(1, 'ECDSA-P256')
  const sameKey = await ca(2, 'ECDSA-P256', old.signer)
  const fresh = await ca(3, 'ECDSA-P256')
  const refused = (error: unknown) => hasCode(error, 'CROSS_SIGN_REFUSED')
  assert.throws(() => crossSigned({ subject: sameKey.certificate, issuer: old, random }), refused)
  const short = {
    certificate: { ...old.certificate, basicConstraints: { ca: true, pathLength: 0 } },
    signer: old.signer,
  }
  assert.throws(() => crossSigned({ subject: fresh.certificate, issuer: short, random }), refused)
})
