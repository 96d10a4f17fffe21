import { isApproved, isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'

/** C-22: approved, not denied, not failed, and without a certificate. */
export function isSignable(csr: CertificateSigningRequest): boolean {
  return isApproved(csr) && !isDenied(csr) && !isFailed(csr) && !isIssued(csr)
}
