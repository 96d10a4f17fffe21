/** Step two of issuing: one signature for one ticket, and proof that the result is what was prepared. */
import { RollcallError } from '../errors.ts'
import { holdsItsKey } from '../keys/private-key.ts'
import {
  type Certificate,
  certificateSignatureIsValid,
  rememberCertificate,
  withSignature,
} from '../x509/certificate.ts'
import { encodePem, rememberPem } from '../x509/pem.ts'
import { assembleSigned } from '../x509/request.ts'
import type { Authority } from './authority.ts'
import { type Prepared, redeem } from './prepare.ts'

export interface Issued {
  certificate: Certificate
  /** The leaf alone, one block (C-22). */
  pem: string
}

/** Signatures since the last that was verified, of authorities whose key is in memory. */
const sinceProven = new WeakMap<Authority, number>()
/** As many may follow on one that was verified: a key that memory spoils is noticed within so many certificates. */
const mostUnverified = 63

/**
 * Signs what was prepared, to the byte. Throws RollcallError PREPARED_SPENT for a ticket that is used or forged,
 * CERTIFICATE_UNFIT when the bytes are not those that were linted, or when the signer gave something else than the CA's
 * signature over them.
 */
export async function issue(prepared: Prepared): Promise<Issued> {
  if (!redeem(prepared))
    throw new RollcallError(
      'PREPARED_SPENT',
      'this prepared certificate was already signed, or never prepared',
    )
  const { tbs, leaf, authority } = prepared
  if (Buffer.compare(tbs, leaf.tbs) !== 0)
    throw new RollcallError('CERTIFICATE_UNFIT', 'the prepared bytes were changed after they were linted')
  const signature = await authority.signer.sign(tbs)
  const der = assembleSigned(tbs, authority.signer.algorithm, signature)
  const certificate = withSignature(leaf, der)
  requireCaSignature(certificate, authority)
  const pem = encodePem('CERTIFICATE', der)
  // An API in this process, and the approver, look at it next.
  rememberPem(pem, 'CERTIFICATE', certificate.raw)
  rememberCertificate(certificate)
  return { certificate, pem }
}

/**
 * A token or another program may come back with anything, so what it signs is always verified. OpenSSL, with a key that
 * matches the certificate, is believed for a while after it has proven it: a verification costs three signatures.
 */
function requireCaSignature(certificate: Certificate, authority: Authority): void {
  const since = sinceProven.get(authority) ?? mostUnverified
  if (holdsItsKey(authority.signer) && since < mostUnverified) {
    sinceProven.set(authority, since + 1)
    return
  }
  sinceProven.delete(authority)
  if (!certificateSignatureIsValid(certificate, authority.certificate))
    throw new RollcallError('CERTIFICATE_UNFIT', 'the signature does not verify with the CA certificate')
  sinceProven.set(authority, 0)
}
