import type { Facts } from './facts.ts'
import { defaultWaitSeconds } from './policy.ts'

/** Milliseconds since the epoch until which the request may stay pending for what may become right. */
export function waitingEnds({ csr, policy, now }: Facts): number {
  const created = Date.parse(csr.metadata.creationTimestamp ?? '')
  return (Number.isNaN(created) ? now : created) + (policy?.waitSeconds ?? defaultWaitSeconds) * 1000
}
