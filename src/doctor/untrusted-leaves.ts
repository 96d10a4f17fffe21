import { verifyChain } from '../x509/certificate.ts'
import type { Certificate } from '../x509/certificate.ts'
import { type IssuedCertificate, latestIssued } from './node-certificates.ts'
import type { RequestFacts } from './request-facts.ts'

export interface UntrustedLeaf extends IssuedCertificate {
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
    const { certificate } = issued
    if (now > certificate.notAfter || now < certificate.notBefore) return []
    const verdict = verifyChain([certificate], roots, { now, usage: 'clientAuth' })
    return verdict.ok ? [] : { ...issued, reason: verdict.reason }
  })
}
