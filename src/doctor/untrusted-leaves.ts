import { type Certificate, verifyChain } from '../x509/certificate.ts'
import { wholeCertificate } from './issued-facts.ts'
import { type IssuedCertificate, latestIssued } from './node-certificates.ts'
import type { RequestFacts } from './request-facts.ts'

export interface UntrustedLeaf extends Omit<IssuedCertificate, 'certificate'> {
  certificate: Certificate
  /** As Go's clients say it. */
  reason: string
}

/** The latest client certificates of nodes that are in their time and do not chain to these roots. `now` in milliseconds. */
export function untrustedLeaves(
  requests: readonly RequestFacts[],
  roots: readonly Certificate[],
  now: number,
): UntrustedLeaf[] {
  return latestIssued(requests, 'client').flatMap(issued => {
    const { notAfter, notBefore } = issued.certificate
    if (now > notAfter || now < notBefore) return []
    const certificate = wholeCertificate(issued.request.csr)
    const verdict = verifyChain([certificate], roots, { now, usage: 'clientAuth' })
    return verdict.ok ? [] : { ...issued, certificate, reason: verdict.reason }
  })
}
