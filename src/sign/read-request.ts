import { RollcallError } from '../errors.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { decodePemOnce } from '../x509/pem.ts'
import { type CertificateRequest, parseCertificateRequest, requestSignatureIsValid } from '../x509/request.ts'

/**
 * The request as Kubernetes' signer reads it: the first PEM block, its signature checked (C-36). Oddities are
 * approval's business. Throws RollcallError X509_MALFORMED or X509_BAD_SIGNATURE.
 */
export function readRequest(csr: CertificateSigningRequest): CertificateRequest {
  const [block] = decodePemOnce(Buffer.from(csr.spec.request, 'base64').toString('latin1'))
  if (block?.label !== 'CERTIFICATE REQUEST')
    throw new RollcallError(
      'X509_MALFORMED',
      `csr "${csr.metadata.name}": PEM block type must be CERTIFICATE REQUEST`,
    )
  const request = parseCertificateRequest(block.bytes)
  if (!requestSignatureIsValid(request))
    throw new RollcallError(
      'X509_BAD_SIGNATURE',
      `csr "${csr.metadata.name}": the request is not signed with its own key`,
    )
  return request
}
