/** Who is left behind, by whom and why (3.5, I14). */
import type { ConsumerFacts, Observations } from './observations.ts'
import type { Exclusion, Phase, Plan } from './plan.ts'
import { hasProven, isClockDisputed, type Jury, juryOf, stateOf } from './standing.ts'

/**
 * The exclusions that hold now: those that people ask for, of consumers away for longer than the policy waits, of
 * laggards when the deadline has passed; without those who came back, have proven, and hold no leaf of the old CA.
 */
export function exclusionsNow(plan: Plan, seen: Observations): readonly Exclusion[] {
  const { excluded, wishes } = plan
  if (excluded.length === 0 && wishes.exclusions.length === 0 && !mayLeave(plan)) return excluded
  const jury = juryOf(plan, seen)
  const consumers = new Map(seen.consumers.map(consumer => [consumer.id, consumer]))
  const holding = new Set((seen.leaves.holders.get(plan.from) ?? []).map(({ holder }) => holder))
  const isBack = ({ consumer: id }: Exclusion) => {
    const consumer = consumers.get(id)
    if (consumer === undefined || holding.has(id)) return false
    const living = seen.now - consumer.lastSeen < plan.policy.timings.live
    return living && hasProven(consumer, { authority: plan.to, atLeast: plan.bundle ?? 0 }, jury)
  }
  const kept = plan.excluded.filter(exclusion => !isBack(exclusion))
  const asked = plan.wishes.exclusions.filter(
    wish => !kept.some(({ consumer }) => consumer === wish.consumer) && !isBack(wish),
  )
  const automatic = isClockDisputed(seen, plan) ? [] : byPolicy(plan, seen, jury)
  const same = kept.length === plan.excluded.length && asked.length === 0 && automatic.length === 0
  return same ? plan.excluded : [...kept, ...asked, ...automatic]
}

/** Phases that wait for consumers; later ones have their answers, and drop what the excluded still need. */
const waiting: ReadonlySet<Phase> = new Set<Phase>([
  'Distributing',
  'Proving',
  'Bridging',
  'IssuerSwitch',
  'Reissuing',
])

function mayLeave({ deadline, policy, phase }: Plan): boolean {
  return (deadline || policy.offline === 'ExcludeAfter') && waiting.has(phase)
}

function byPolicy(plan: Plan, { consumers, now }: Observations, jury: Jury): Exclusion[] {
  if (!mayLeave(plan)) return []
  return consumers.flatMap(consumer => {
    const reason = consumer.roles.includes(plan.role) ? whyLeft(consumer, plan, now, jury) : undefined
    return reason === undefined ? [] : [{ consumer: consumer.id, by: 'policy', reason, at: now }]
  })
}

function whyLeft(consumer: ConsumerFacts, plan: Plan, now: number, jury: Jury): string | undefined {
  const { timings, offline } = plan.policy
  const state = stateOf(consumer, jury.excluded, now, timings)
  // An API server that is left behind would come back and refuse everybody: only a human may say that it will not.
  if (state === 'Gone' || state === 'Excluded' || consumer.kind === 'APIServer') return undefined
  const proven = hasProven(consumer, { authority: plan.to, atLeast: 0 }, jury)
  if (plan.deadline && !proven) return 'the old CA ends before it has proven'
  const away = now - consumer.lastSeen >= timings.excludeAfter
  return offline === 'ExcludeAfter' && away ? 'away for longer than the policy waits' : undefined
}
