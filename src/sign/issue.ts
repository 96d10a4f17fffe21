/** Step two of issuing: one signature for one ticket, and proof that the result is what was prepared. */
import { RollcallError } from '../errors.ts'
import { type Certificate, certificateSignatureIsValid, withSignature } from '../x509/certificate.ts'
import { encodePem } from '../x509/pem.ts'
import { assembleSigned } from '../x509/request.ts'
import { type Prepared, redeem } from './prepare.ts'

export interface Issued {
  certificate: Certificate
  /** The leaf alone, one block (C-22). */
  pem: string
}

/**
 * Signs what was prepared. Throws RollcallError PREPARED_SPENT for a ticket that is used or forged, CERTIFICATE_UNFIT
 * when the signer gave something else than the CA's signature over the prepared bytes.
 */
export async function issue(prepared: Prepared): Promise<Issued> {
  if (!redeem(prepared))
    throw new RollcallError(
      'PREPARED_SPENT',
      'this prepared certificate was already signed, or never prepared',
    )
  const { tbs, leaf, spki, authority } = prepared
  const signature = await authority.signer.sign(tbs)
  const der = assembleSigned(tbs, authority.signer.algorithm, signature)
  // The signed part was read when it was linted, and must be the same to the byte.
  const certificate = withSignature(leaf, der)
  if (Buffer.compare(certificate.tbs, tbs) !== 0 || Buffer.compare(certificate.spki, spki) !== 0)
    throw new RollcallError('CERTIFICATE_UNFIT', 'the signed certificate is not the one that was prepared')
  if (!certificateSignatureIsValid(certificate, authority.certificate))
    throw new RollcallError('CERTIFICATE_UNFIT', 'the signature does not verify with the CA certificate')
  return { certificate, pem: encodePem('CERTIFICATE', der) }
}
