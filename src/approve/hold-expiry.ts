import type { Facts } from './facts.ts'
import type { Verdict } from './verdict.ts'
import { createdAt } from './waiting.ts'

/** Seconds after creation; Kubernetes deletes what is still pending then (C-40). */
const defaultHoldSeconds = 86_400

/** A hold that a policy asked for ends: nobody's silence keeps a question open for ever. */
export function expiringHold(verdict: Verdict, facts: Facts): Verdict {
  // Without a policy nobody was asked.
  if (verdict.outcome !== 'Hold' || !facts.policy) return verdict
  const until = createdAt(facts) + (facts.policy.holdSeconds ?? defaultHoldSeconds) * 1000
  if (facts.now < until) return { ...verdict, until }
  const [first] = verdict.reasons
  const message = `nobody decided it in time (held for ${first?.code}: ${first?.message})`
  return { ...verdict, outcome: 'Deny', reasons: [{ code: 'HoldExpired', message }, ...verdict.reasons] }
}
