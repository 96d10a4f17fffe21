import type { CertificateSigningRequest } from '../kube/types.ts'
import type { Verdict } from './verdict.ts'

/** The request with the verdict as a condition. C-13: no timestamps, the server fills them in. */
export function decided(
  csr: CertificateSigningRequest,
  { outcome, reasons }: Verdict,
): CertificateSigningRequest {
  const condition = {
    type: outcome === 'Approve' ? 'Approved' : 'Denied',
    status: 'True',
    ...(reasons[0] ? { reason: reasons[0].code, message: reasons[0].message } : {}),
  } as const
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } }
}
