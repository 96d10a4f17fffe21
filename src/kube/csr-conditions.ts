/** What a CertificateSigningRequest's conditions say. Types decide; `status` of Approved, Denied, Failed is always True. */
import type { CertificateSigningRequest, CsrCondition } from './types.ts'

/** The condition of this type, or undefined. */
export function csrCondition(csr: CertificateSigningRequest, type: string): CsrCondition | undefined {
  return csr.status?.conditions?.find(condition => condition.type === type)
}

export const isApproved = (csr: CertificateSigningRequest) => csrCondition(csr, 'Approved') !== undefined
export const isDenied = (csr: CertificateSigningRequest) => csrCondition(csr, 'Denied') !== undefined
export const isIssued = (csr: CertificateSigningRequest) => Boolean(csr.status?.certificate)

/** C-22: a Failed condition counts when its status is True or empty. */
export function isFailed(csr: CertificateSigningRequest): boolean {
  return (
    csr.status?.conditions?.some(
      condition => condition.type === 'Failed' && (condition.status === 'True' || !condition.status),
    ) ?? false
  )
}
