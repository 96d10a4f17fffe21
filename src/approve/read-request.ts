/** spec.request as strictly as it can be read: bytes that two parsers could read differently are refused (approvers 2.11). */
import { RollcallError } from '../errors.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { decodePemOnce } from '../x509/pem.ts'
import { type CertificateRequest, parseCertificateRequest, requestSignatureIsValid } from '../x509/request.ts'
import type { ReasonCode } from './verdict.ts'

/** Bytes of PEM. A request with an RSA-4096 key and a hundred names has about 6 KiB. */
const longestRequest = 64 * 1024

export interface RequestReading {
  /** Absent when it cannot be read. */
  request?: CertificateRequest
  /** What keeps it from being judged further. */
  problem?: { code: ReasonCode; message: string }
}

/** Reads and verifies the request of a CertificateSigningRequest. Never throws for what a client can send. */
export function readRequest(csr: CertificateSigningRequest): RequestReading {
  const pem = Buffer.from(csr.spec.request, 'base64').toString('latin1')
  if (pem.length > longestRequest) return malformed(`has ${pem.length} bytes, more than ${longestRequest}`)
  // Exactly one block and nothing around it but white space: Go reads the first block and ignores the rest.
  if (!/^\s*-----BEGIN CERTIFICATE REQUEST-----[^-]*-----END CERTIFICATE REQUEST-----\s*$/.test(pem))
    return malformed('is not exactly one PEM block CERTIFICATE REQUEST with nothing around it')
  try {
    const blocks = decodePemOnce(pem)
    const block = blocks[0]
    if (!block || blocks.length > 1 || block.headers)
      return malformed('is not exactly one PEM block CERTIFICATE REQUEST without headers')
    const request = parseCertificateRequest(block.bytes)
    if (requestSignatureIsValid(request)) return { request }
    const message = 'the signature of spec.request does not verify with the key in it'
    return { request, problem: { code: 'BadSignature', message } }
  } catch (error) {
    if (error instanceof RollcallError && error.code.startsWith('X509_'))
      return malformed(`does not parse: ${error.message}`)
    throw error
  }
}

function malformed(what: string): RequestReading {
  return { problem: { code: 'Malformed', message: `spec.request ${what}` } }
}
