import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { type CertificateFields, encodeTbsCertificate } from '../x509/certificate.ts'
import { type ExtensionContent, encodeExtensions } from '../x509/certificate-extensions.ts'
import type { Extension } from '../x509/extension.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { decodeOnePem } from '../x509/pem.ts'
import { parseCertificateRequest } from '../x509/request.ts'
import { lint } from './lint.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const minute = 60_000
const authority = await signingAuthority(now)
const signer = generateSigner('Ed25519', seededRandom(4))
const pem = await signedRequest({ signer, commonName: 'system:node:a' })
const request = parseCertificateRequest(decodeOnePem(pem, 'CERTIFICATE REQUEST'))
const nobody = { raw: Uint8Array.of(0x30, 0), rdns: [] }

const content: ExtensionContent = {
  keyUsage: ['digitalSignature'],
  extendedKeyUsage: [oids.clientAuth],
  basicConstraints: { ca: false },
  authorityKeyIdentifier: authority.certificate.subjectKeyIdentifier ?? new Uint8Array(),
  subjectAltName: { dnsNames: ['a'] },
}
const { basicConstraints: _constraints, ...unconstrained } = content
const { authorityKeyIdentifier: _identifier, ...unidentified } = content
const extensionsOf = (content: ExtensionContent) => encodeExtensions(content, request.subject)
const uncritical = (id: string) => ({
  extensions: extensionsOf(content).map(
    (extension): Extension => ({ ...extension, critical: extension.critical && extension.id !== id }),
  ),
})

/** The rules that a leaf would break which is in order but for these fields. */
function broken(changes: Partial<CertificateFields>, asked = request): unknown {
  const tbs = encodeTbsCertificate({
    serialNumber: Uint8Array.of(1),
    algorithm: authority.signer.algorithm,
    issuer: authority.certificate.subject,
    notBefore: now - 5 * minute,
    notAfter: now + 60 * minute,
    subject: request.subject,
    spki: request.spki,
    extensions: extensionsOf(content),
    ...changes,
  })
  try {
    lint(tbs, { authority, request: asked, now })
  } catch (error) {
    if (hasCode(error, 'CERTIFICATE_UNFIT')) return error.details.broken
    throw error
  }
  return []
}

test('a leaf in order breaks no rule', () => assert.deepEqual(broken({}), []))

for (const [changes, rule] of [
  [{ issuer: nameOf({ commonName: 'other' }) }, "issuer is the CA's subject, byte for byte"],
  [{ spki: generateSigner('Ed25519', seededRandom(5)).publicKey }, 'key is the one of the request'],
  [{ notBefore: now - 7 * minute }, 'backdated by five minutes (C-35)'],
  [{ notAfter: now - minute }, 'valid now'],
  [{ notBefore: now + minute }, 'valid now'],
  [{ notAfter: authority.certificate.notAfter + 1000 }, 'does not outlive the CA'],
  [
    { extensions: extensionsOf({ ...content, basicConstraints: { ca: true } }) },
    'is no CA, and says so critically',
  ],
  [{ extensions: extensionsOf(unconstrained) }, 'is no CA, and says so critically'],
  [uncritical(oids.basicConstraints), 'is no CA, and says so critically'],
  [
    { extensions: extensionsOf({ ...content, keyUsage: ['keyCertSign'] }) },
    'cannot sign certificates or CRLs',
  ],
  [{ extensions: extensionsOf({ ...content, keyUsage: ['cRLSign'] }) }, 'cannot sign certificates or CRLs'],
  [uncritical(oids.keyUsage), 'keyUsage is critical'],
  [{ subject: nobody }, 'has a subject, or critical SANs'],
  [{ extensions: extensionsOf(unidentified) }, "authority key identifier is the CA's"],
  [
    { extensions: extensionsOf({ ...content, subjectKeyIdentifier: Uint8Array.of(1) }) },
    'only the extensions of a leaf',
  ],
] as const)
  test(`a leaf that breaks "${rule}" is not signed`, () => assert.deepEqual(broken(changes), [rule]))

test("a request with the CA's own key gets no leaf", () => {
  const { spki } = authority.certificate
  assert.deepEqual(broken({ spki }, { ...request, spki }), ["key is not the CA's own"])
})

test('bytes that are no certificate are not signed', () => {
  assert.throws(
    () => lint(Uint8Array.of(0x30, 0), { authority, request, now }),
    error => hasCode(error, 'X509_MALFORMED'),
  )
})
