import type { Lease } from '../kube/types.ts'
import { controllerLease, leaseEvidence } from '../survey/csr-facts.ts'
import type { Evidence } from './finding.ts'

/** What the Leases of controllers show, as evidence; nothing where they could not be read. `now` in milliseconds. */
export function leaseLines(leases: readonly Lease[] | undefined, now: number): Evidence[] {
  const lines = leaseEvidence(leases?.map(lease => controllerLease(lease, now)))
  return lines.map(({ fact, source }) => ({ value: fact, source }))
}
