/**
 * A last look at the very bytes that would be signed, by the parser and not by the code that wrote them: a mistake of
 * ours is found before it has a signature.
 */
import { RollcallError } from '../errors.ts'
import { throwAwaySignature } from '../keys/throw-away-key.ts'
import { type Certificate, parseCertificateOf } from '../x509/certificate.ts'
import { oids } from '../x509/oid.ts'
import { assembleSigned, type CertificateRequest } from '../x509/request.ts'
import type { Authority } from './authority.ts'
import { backdateSeconds } from './validity.ts'

export interface LintFacts {
  authority: Authority
  request: CertificateRequest
  /** Milliseconds since the epoch. */
  now: number
}

type Check = readonly [name: string, holds: (leaf: Certificate, facts: LintFacts) => boolean]

const leafExtensions: readonly string[] = [
  oids.keyUsage,
  oids.extendedKeyUsage,
  oids.basicConstraints,
  oids.authorityKeyIdentifier,
  oids.subjectAltName,
]

const checks: readonly Check[] = [
  [
    "issuer is the CA's subject, byte for byte",
    (leaf, { authority }) => same(leaf.issuer.raw, authority.certificate.subject.raw),
  ],
  ['key is the one of the request', (leaf, { request }) => same(leaf.spki, request.spki)],
  ["key is not the CA's own", (leaf, { authority }) => !same(leaf.spki, authority.certificate.spki)],
  ['valid now', (leaf, { now }) => leaf.notBefore <= now && now < leaf.notAfter],
  [
    'backdated by five minutes (C-35)',
    (leaf, { now }) => now - leaf.notBefore < (backdateSeconds + 1) * 1000,
  ],
  ['does not outlive the CA', (leaf, { authority }) => leaf.notAfter <= authority.certificate.notAfter],
  [
    'is no CA, and says so critically',
    leaf => leaf.basicConstraints?.ca === false && critical(leaf, oids.basicConstraints),
  ],
  [
    'cannot sign certificates or CRLs',
    leaf => !leaf.keyUsage?.some(usage => usage === 'keyCertSign' || usage === 'cRLSign'),
  ],
  ['keyUsage is critical', leaf => !leaf.keyUsage || critical(leaf, oids.keyUsage)],
  [
    'has a subject, or critical SANs',
    leaf => leaf.subject.rdns.length > 0 || critical(leaf, oids.subjectAltName),
  ],
  [
    "authority key identifier is the CA's",
    (leaf, { authority }) => same(leaf.authorityKeyIdentifier, authority.certificate.subjectKeyIdentifier),
  ],
  ['only the extensions of a leaf', leaf => leaf.extensions.every(({ id }) => leafExtensions.includes(id))],
]

/**
 * What the parser reads of the very bytes, signed with a key that is thrown away. Throws RollcallError CERTIFICATE_UNFIT with every check that does
 * not hold, X509_MALFORMED when it does not parse.
 */
export function lint(tbs: Uint8Array, facts: LintFacts): Certificate {
  const { algorithm } = facts.authority.signer
  const { spki, keyType: type } = facts.request
  const der = assembleSigned(tbs, algorithm, throwAwaySignature(tbs, algorithm))
  const leaf = parseCertificateOf({ spki, type }, der)
  const broken = checks.filter(([, holds]) => !holds(leaf, facts)).map(([name]) => name)
  if (broken.length > 0)
    throw new RollcallError('CERTIFICATE_UNFIT', `the certificate would break: ${broken.join('; ')}`, {
      broken,
    })
  return leaf
}

function critical(leaf: Certificate, id: string): boolean {
  return leaf.extensions.some(extension => extension.id === id && extension.critical)
}

function same(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one && other ? Buffer.compare(one, other) === 0 : one === other
}
