import { RollcallError } from '../../../errors.ts'
import type { CertificateSigningRequest } from '../../../kube/types.ts'
import type { Name } from '../../../x509/name.ts'
import { decodePemOnce } from '../../../x509/pem.ts'
import { parseCertificateRequest } from '../../../x509/request.ts'

/** The subject of a CSR object's spec.request, or why it cannot be read (A-5: the first PEM block counts). */
export function requestedSubject(
  object: CertificateSigningRequest,
): { ok: true; subject: Name } | { ok: false; reason: string } {
  const [block] = decodePemOnce(Buffer.from(object.spec?.request ?? '', 'base64').toString('latin1'))
  if (block?.label !== 'CERTIFICATE REQUEST') {
    return { ok: false, reason: 'PEM block type must be CERTIFICATE REQUEST' }
  }
  try {
    return { ok: true, subject: parseCertificateRequest(block.bytes).subject }
  } catch (error) {
    if (error instanceof RollcallError) return { ok: false, reason: error.message }
    throw error
  }
}
