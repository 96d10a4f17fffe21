/** The CA that comes, and the certificates by which old and new CA vouch for each other while both are trusted. */
import { RollcallError } from '../errors.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import type { Signer } from '../keys/signer.ts'
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { Random } from '../ports.ts'
import { type Certificate, certificateSignatureIsValid } from '../x509/certificate.ts'

export interface NewCa {
  role: TrustRole
  generation: number
  signer: Signer
  /** Milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  random: Random
}

/** Every generation has a name of its own: CAs of one name are told apart by some TLS stacks only, and by luck. */
export function authorityName(role: TrustRole, generation: number): string {
  return `rollcall-${role}-ca-${generation}`
}

/** The self-signed certificate of a new CA, PEM. */
export function newCaCertificate({ role, generation, ...ca }: NewCa): Promise<string> {
  return selfSignedCa({ commonName: authorityName(role, generation), ...ca })
}

export interface CrossSigning {
  /** The CA that is vouched for. */
  subject: Certificate
  issuer: { certificate: Certificate; signer: Signer }
  random: Random
}

/**
 * A certificate for the subject's name and key, signed by the issuer, PEM; valid while both are. Who trusts only the
 * issuer verifies leaves of the subject by it. Throws RollcallError CROSS_SIGN_REFUSED.
 */
export function crossSigned({ subject, issuer, random }: CrossSigning): Promise<string> {
  const problem = whyNotCrossSigned(subject, issuer.certificate)
  if (problem !== undefined)
    throw new RollcallError('CROSS_SIGN_REFUSED', `no cross-signed certificate: ${problem}.`)
  const { subjectKeyIdentifier } = subject
  return issueCertificate({
    ca: issuer,
    subject: subject.subject,
    spki: subject.spki,
    notBefore: Math.max(subject.notBefore, issuer.certificate.notBefore),
    notAfter: Math.min(subject.notAfter, issuer.certificate.notAfter),
    random,
    extensions: {
      keyUsage: ['digitalSignature', 'keyEncipherment', 'keyCertSign'],
      // No further CA below: it vouches for this key alone.
      basicConstraints: { ca: true, pathLength: 0 },
      ...(subjectKeyIdentifier === undefined ? {} : { subjectKeyIdentifier }),
    },
  })
}

/** Whether the certificate says what `crossSigned` would, for this subject and by this issuer. */
export function isCrossSigned(cross: Certificate, subject: Certificate, issuer: Certificate): boolean {
  return (
    cross.basicConstraints?.ca === true &&
    Buffer.compare(cross.subject.raw, subject.subject.raw) === 0 &&
    Buffer.compare(cross.spki, subject.spki) === 0 &&
    certificateSignatureIsValid(cross, issuer)
  )
}

function whyNotCrossSigned(subject: Certificate, issuer: Certificate): string | undefined {
  if (Buffer.compare(subject.spki, issuer.spki) === 0)
    return 'both CAs have the same key, which Go takes for a loop' // swarmkit: Go >= 1.19
  if (Buffer.compare(subject.subject.raw, issuer.subject.raw) === 0) return 'both CAs have the same name'
  if (issuer.basicConstraints?.pathLength === 0) return 'the issuer may sign no CA below it (pathLength 0)'
  if (Math.min(subject.notAfter, issuer.notAfter) <= Math.max(subject.notBefore, issuer.notBefore))
    return 'the CAs are not valid at the same time'
  return undefined
}
