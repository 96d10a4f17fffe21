/** Who has no agent and is to prove itself at the real endpoint now, at the price of a request that fails if it cannot. */
import type { Observations } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import { hasProven, juryOf, stateOf } from '../../rollover/standing.ts'

type Seen = Omit<Observations, 'gatheredAfter'>

/** Ids of those whose answer is waited for; none while it is too early to ask anybody. */
export function strangersToAsk(plan: Plan, authority: number, seen: Seen): Set<string> {
  const jury = juryOf(plan, seen)
  const { timings } = plan.policy
  // Whoever mounts the CA has it after a while, and should not lose a request for having been asked at once.
  const asks = plan.phase === 'Proving' || plan.phase === 'RestoringTrust'
  if (asks && seen.now - plan.phaseSince < timings.propagate) return new Set()
  // Agents that are there come first: a connection of theirs from the same address is not to fail for a stranger's sake.
  const waiting = seen.consumers.some(consumer => {
    const proven = consumer.kind !== 'Agent' || consumer.proof?.authorities?.includes(authority)
    return !proven && stateOf(consumer, jury.excluded, seen.now, timings) === 'Live'
  })
  if (waiting) return new Set()
  const wanted = seen.consumers.filter(consumer => {
    const { id, kind } = consumer
    if (kind !== 'Pod' && kind !== 'External') return false
    return !jury.excluded.has(id) && !hasProven(consumer, { authority, atLeast: 0 }, jury)
  })
  return new Set(wanted.map(({ id }) => id))
}
