/** Requests that were answered long ago: all that is still of interest is how many there are. */
import { isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { signerLabel, stampOf, stateOf } from './metrics-requests.ts'
import { createdAt } from './request-facts.ts'

/** Milliseconds. C-40: what was answered longer ago is deleted when somebody gets round to it. */
const settledAfter = 3_600_000

/**
 * `SIGNER STATE` of a request that was made and answered over an hour ago, by when it was seen: nothing that is counted
 * within an hour depends on it. undefined: it is not settled. `now` in milliseconds since the epoch.
 */
export function settledHeading(csr: CertificateSigningRequest, now: number): string | undefined {
  if (!isIssued(csr) && !isDenied(csr) && !isFailed(csr)) return undefined
  const stamps = ['Approved', 'Denied', 'Failed'].map(type => stampOf(csr, type) ?? 0)
  const latest = Math.max(createdAt(csr, now), ...stamps)
  if (!(now - latest > settledAfter)) return undefined
  return `${signerLabel(csr.spec.signerName)} ${stateOf(csr)}`
}
