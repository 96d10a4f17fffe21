/** What would happen if the CA changed today: asked by `rollcall ca readiness`, without a rotation, and writing nothing. */
import type { ConsumerKind } from '../kube/rollcall/trust-consumer.ts'
import type { Blocker } from './gates/gate.ts'
import { preflightGate } from './gates/preflight.ts'
import { signedGate } from './gates/signed.ts'
import type { ConsumerFacts, Observations } from './observations.ts'
import type { Plan } from './plan.ts'
import { hasProven, type Jury, juryOf, stateOf } from './standing.ts'

/** `WillLoad` and `WillBeRestarted`: an agent takes orders there. `Blocker`: somebody has to look. */
export type Verdict = 'Proven' | 'WillLoad' | 'WillBeRestarted' | 'Excluded' | 'Blocker'

export interface Readiness {
  consumers: readonly { id: string; kind: ConsumerKind; verdict: Verdict; why: string }[]
  /** Those that would be lost today without a gate, and all that count. */
  lost: number
  total: number
  /** What keeps a rotation from beginning at all. */
  blockers: readonly Blocker[]
}

/** `plan`: the rotation as it would begin (`newPlan`). */
export function readiness(plan: Plan, seen: Observations): Readiness {
  const blockers = [preflightGate(plan, seen), signedGate(plan, seen)].flatMap(gate => gate.blockers)
  return { ...judgedAll(plan, seen.consumers, seen, juryOf(plan, seen)), blockers }
}

/** The same of the consumers alone, for who may read only them and the bundles: `now` in milliseconds since the epoch. */
export function consumerReadiness(
  plan: Plan,
  { consumers, bundles, now }: Pick<Observations, 'consumers' | 'bundles' | 'now'>,
): Omit<Readiness, 'blockers'> {
  return judgedAll(plan, consumers, { now }, juryOf(plan, { now, bundles, authorities: new Map() }))
}

function judgedAll(
  plan: Plan,
  all: readonly ConsumerFacts[],
  seen: Pick<Observations, 'now'>,
  jury: Jury,
): Omit<Readiness, 'blockers'> {
  const consumers = all
    .filter(({ roles, gone }) => roles.includes(plan.role) && !gone)
    .map(consumer => ({ id: consumer.id, kind: consumer.kind, ...judged(consumer, plan, seen, jury) }))
  const counting = consumers.filter(({ verdict }) => verdict !== 'Excluded')
  const lost = counting.filter(({ verdict }) => verdict !== 'Proven').length
  return { consumers, lost, total: counting.length }
}

/** `roll today and you lose 3 of 214: …`: the one sentence, with at most ten names. */
export function readinessSentence({ consumers, lost, total }: Readiness): string {
  if (total === 0) return 'roll today and you lose nobody: no consumer of it is known'
  if (lost === 0) return `roll today and you lose none of ${total}: every consumer has answered`
  const names = consumers
    .filter(({ verdict }) => verdict !== 'Proven' && verdict !== 'Excluded')
    .map(({ id }) => id)
  const more = names.length > 10 ? `, and ${names.length - 10} more` : ''
  return `roll today and you lose ${lost} of ${total}: ${names.slice(0, 10).join(', ')}${more}`
}

function vouchedFor({ id }: ConsumerFacts, { plan, acknowledged }: Jury): string | undefined {
  if (!acknowledged.has(id)) return undefined
  const by = plan.wishes.acknowledgements.findLast(({ consumer }) => consumer === id)?.by
  return `acknowledged by ${by}`
}

function howProven({ kind, proof }: ConsumerFacts): string {
  return kind === 'Pod' && proof?.level === 2 ? 'was restarted after publication' : 'has loaded the CA'
}

function judged(
  consumer: ConsumerFacts,
  plan: Plan,
  { now }: Pick<Observations, 'now'>,
  jury: Jury,
): { verdict: Verdict; why: string } {
  const state = stateOf(consumer, jury.excluded, now, plan.policy.timings)
  if (state === 'Excluded') return { verdict: 'Excluded', why: 'excluded by name' }
  if (hasProven(consumer, { authority: plan.to, atLeast: 0 }, jury))
    return { verdict: 'Proven', why: vouchedFor(consumer, jury) ?? howProven(consumer) }
  if (state === 'Offline') return { verdict: 'Blocker', why: 'is away and has not proven' }
  if (consumer.lastFailure !== undefined) return { verdict: 'Blocker', why: 'refused a chain' }
  if (consumer.kind === 'Pod')
    return {
      verdict: 'Blocker',
      why: 'counts once it is restarted two minutes after publication, or acknowledged by a human',
    }
  if (!consumer.orderable)
    return { verdict: 'Blocker', why: 'has to be restarted or acknowledged by a human' }
  if (consumer.reloads) return { verdict: 'WillLoad', why: 'loads it when told to' }
  return { verdict: 'WillBeRestarted', why: 'its process is restarted in a wave' }
}
