/**
 * Step one of issuing: from facts to the exact bytes that will be signed. Nothing is signed here, and nothing can be
 * signed that was not prepared here: `issue` takes only a Prepared, and each works once.
 */
import { RollcallError } from '../errors.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { type Certificate, encodeTbsCertificate } from '../x509/certificate.ts'
import { encodeExtensions } from '../x509/certificate-extensions.ts'
import { encodeName, type Name, rebuiltRdns } from '../x509/name.ts'
import type { CertificateRequest } from '../x509/request.ts'
import { usagesOfWords } from '../x509/usages.ts'
import type { Authority } from './authority.ts'
import { lint } from './lint.ts'
import { profileOf } from './profiles.ts'
import { grantedSeconds, leafValidity } from './validity.ts'

export interface SigningFacts {
  /** Approved; that is not asked again here. */
  csr: CertificateSigningRequest
  /** What spec.request holds, its signature verified. */
  request: CertificateRequest
  authority: Authority
  /** Milliseconds since the epoch. */
  now: number
  /** Seconds that no certificate lives longer than. */
  certificateLifetimeSeconds: number
  /** Big-endian, random, positive, at most 20 octets. */
  serialNumber: Uint8Array
}

/** A ticket for one signature over the bytes that were prepared and linted. Only `prepare` makes one that counts. */
export interface Prepared {
  readonly tbs: Uint8Array
  /** What they say, as the parser read them. */
  readonly leaf: Certificate
  readonly spki: Uint8Array
  readonly authority: Authority
  /** It would live longer, did its CA. */
  readonly cappedByCa: boolean
}

const unspent = new WeakSet<Prepared>()

/** The ticket, or why the signer refuses for good: the message of a Failed condition (C-33). */
export type Preparation =
  | { prepared: Prepared; refusal?: undefined }
  | { prepared?: undefined; refusal: string }

/**
 * Throws RollcallError SIGNER_UNUSABLE (the CA has expired) or CERTIFICATE_UNFIT: both may become right without a new
 * request, so they are no refusal.
 */
export function prepare(facts: SigningFacts): Preparation {
  const { csr, request, authority, now } = facts
  const profile = profileOf(csr.spec.signerName)
  if (!profile) throw new RangeError(`no profile for signer ${csr.spec.signerName}`)
  const refusal = profile.refusal(request, csr.spec.usages)
  if (refusal !== undefined) return { refusal }
  const { keyUsage, extendedKeyUsage, unrecognized } = usagesOfWords(csr.spec.usages)
  if (unrecognized.length > 0)
    throw new RollcallError('CERTIFICATE_UNFIT', `unrecognized usage values: [${unrecognized.join(' ')}]`)

  const subject = rebuiltSubject(request)
  const { subjectKeyIdentifier } = authority.certificate
  const life = grantedSeconds(csr.spec.expirationSeconds, facts.certificateLifetimeSeconds)
  const { notAfter } = authority.certificate
  const validity = leafValidity(now, life, notAfter)
  const fields = {
    serialNumber: facts.serialNumber,
    algorithm: authority.signer.algorithm,
    issuer: authority.certificate.subject,
    ...validity,
    subject,
    spki: request.spki,
    // C-36: what the request asks for in its extensions is dropped, but for the SANs. No SKI on a leaf.
    extensions: encodeExtensions(
      {
        keyUsage,
        extendedKeyUsage,
        basicConstraints: { ca: false },
        ...(subjectKeyIdentifier ? { authorityKeyIdentifier: subjectKeyIdentifier } : {}),
        subjectAltName: request.subjectAltName,
      },
      subject,
    ),
  }
  const cappedByCa = validity.notAfter < leafValidity(now, life, Number.POSITIVE_INFINITY).notAfter
  const tbs = encodeTbsCertificate(fields)
  const leaf = lint(tbs, { authority, request, now })
  const prepared = Object.freeze({ tbs, leaf, spki: request.spki, authority, cappedByCa })
  unspent.add(prepared)
  return { prepared }
}

/** Takes the ticket: true once, for a ticket that `prepare` made. */
export function redeem(prepared: Prepared): boolean {
  return unspent.delete(prepared)
}

/** C-36: the attributes that Go's pkix.Name knows, in its order; others are dropped. */
function rebuiltSubject(request: CertificateRequest): Name {
  const rdns = rebuiltRdns(request.subject)
  return { raw: encodeName(rdns), rdns }
}
