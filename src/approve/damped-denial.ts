import type { Facts } from './facts.ts'
import type { Objection } from './verdict.ts'
import { answerHeldUntil } from './waiting.ts'

/** Denials within an hour after which further ones are held back. */
const mostDenials = 5

/**
 * A kubelet that is denied asks again within 32 s, 112 times an hour; one that waits asks 4 times an hour. So a node that
 * was denied again and again gets its next denial late. What becomes right meanwhile is approved at once all the same.
 */
export function dampedDenial(objection: Objection, facts: Facts): Objection {
  const { denials = 0 } = facts.history ?? {}
  const until = answerHeldUntil(facts)
  if (objection.outcome !== 'Deny' || objection.code === 'Superseded') return objection
  if (denials < mostDenials || facts.now >= until) return objection
  const message = `${objection.message}; denied ${denials} times within the hour, so this denial waits too`
  return { ...objection, outcome: 'Wait', until, message }
}
