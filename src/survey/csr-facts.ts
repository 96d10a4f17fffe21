import type { AccessReview } from '../approve/facts.ts'
import type { Verdict } from '../approve/verdict.ts'
import type { CertificateSigningRequest, Lease } from '../kube/types.ts'
import type { Evidence } from './explanation.ts'

/** A Lease by which a program shows that it runs. */
export interface ControllerLease {
  name: string
  holder: string
  /** Seconds since it was renewed, by our clock; absent: it never was. */
  renewedAgo?: number
  /** Whether it was renewed within its own duration. */
  live: boolean
}

/** All that the explanation is made from, gathered beforehand. */
export interface CsrFacts {
  csr: CertificateSigningRequest
  /** Milliseconds since the epoch. */
  now: number
  /** Newer undecided or issued request for the same subject and signer, if any. */
  newer?: string
  /** Leases of programs that approve or sign; absent: they could not be read. */
  leases?: readonly ControllerLease[]
  /** C-12, for kubelet client requests; absent: not asked, or it could not be. */
  access?: AccessReview
  /** What the policy in force says to it; absent where that says nothing. */
  verdict?: Verdict
  /** What could not be looked at, and why. */
  unchecked: string[]
}

/** Milliseconds after which a controller that runs would have acted. */
export const CONTROLLER_PATIENCE = 60_000

/** What the Leases show; nothing when they could not be read (that is among the unchecked). */
export function leaseEvidence(leases: readonly ControllerLease[] | undefined): Evidence[] {
  if (!leases) return []
  if (leases.length === 0) {
    return [{ fact: 'no Lease of kube-controller-manager or rollcall', source: 'Leases in kube-system' }]
  }
  return leases.map(({ name, holder, renewedAgo, live }) => ({
    fact: live
      ? `held by ${holder}, renewed ${renewedAgo} s ago`
      : `stale: ${holder ? `held by ${holder}, ` : ''}${renewedAgo === undefined ? 'never renewed' : `last renewed ${renewedAgo} s ago`}`,
    source: `Lease kube-system/${name}`,
  }))
}

/** Whether a Lease in kube-system is of a program that may approve and sign. */
export function isControllerLease({ metadata }: Lease): boolean {
  return metadata.name === 'kube-controller-manager' || isRollcall(metadata.name)
}

/** Leases of ours that no controller leads by: heads of decision logs, and what the embedded API says of itself. */
const noController = new Set(['rollcall-audit', 'rollcall-apiserver'])

/** Whether a Lease is of Rollcall's controllers, whatever name after `rollcall` it was given. */
export function isRollcall(leaseName: string): boolean {
  return /^rollcall(-|$)/.test(leaseName) && !noController.has(leaseName)
}

/** What a Lease says about its holder. `now` in milliseconds since the epoch, by our clock. */
export function controllerLease({ metadata, spec = {} }: Lease, now: number): ControllerLease {
  const renewed = spec.renewTime ? Date.parse(spec.renewTime) : undefined
  const holder = spec.holderIdentity ?? ''
  const renewedAgo = renewed === undefined ? undefined : Math.max(0, Math.floor((now - renewed) / 1000))
  const live = holder !== '' && renewedAgo !== undefined && renewedAgo <= (spec.leaseDurationSeconds ?? 15)
  return { name: metadata.name, holder, ...(renewedAgo !== undefined && { renewedAgo }), live }
}
