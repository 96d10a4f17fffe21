import type { Facts } from './facts.ts'
import { defaultWaitSeconds } from './policy.ts'

/** Seconds after creation at which a held-back answer is given: within the kubelet's 900, so that it reads the reason. */
const heldSeconds = 840

/** Milliseconds since the epoch until which the request may stay pending for what may become right. */
export function waitingEnds(facts: Facts): number {
  return createdAt(facts) + (facts.policy?.waitSeconds ?? defaultWaitSeconds) * 1000
}

/** Milliseconds since the epoch until which an answer that would only bring the next request is held back. */
export function answerHeldUntil(facts: Facts): number {
  return createdAt(facts) + heldSeconds * 1000
}

/** Milliseconds since the epoch; an object without a time counts as made now. */
export function createdAt({ csr, now }: Facts): number {
  const created = Date.parse(csr.metadata.creationTimestamp ?? '')
  return Number.isNaN(created) ? now : created
}
