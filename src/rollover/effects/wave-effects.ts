/** Restarts and renewals: only members of the present wave, each at its own time. */

import { mustHoldWaves } from '../gates/budget.ts'
import type { ConsumerFacts } from '../observations.ts'
import type { Plan, Wave } from '../plan.ts'
import { isClockDisputed } from '../standing.ts'
import { waveNow } from '../waves.ts'
import { waitingForRestart } from './bundles.ts'
import type { Effect } from './effect.ts'
import { waitingForRenewal } from './issuing.ts'
import type { Situation } from './situation.ts'

export interface Waiting {
  restart: ReadonlyMap<string, ConsumerFacts>
  renew: ReadonlySet<string>
  /** Both, sorted. */
  all: readonly string[]
}

export function waitingIn(situation: Situation): Waiting {
  const consumers = mayRestart(situation) ? waitingForRestart(situation) : []
  const restart = new Map(consumers.map(consumer => [consumer.id, consumer]))
  const renew = new Set(waitingForRenewal(situation))
  return { restart, renew, all: [...new Set([...restart.keys(), ...renew])].sort() }
}

/** The wave that should be under way. */
export function waveIn(situation: Situation, waiting: Waiting): Wave | undefined {
  const { plan, seen, emergency } = situation
  const nodes = seen.consumers.filter(({ kind, gone }) => kind === 'Kubelet' && !gone)
  return waveNow(plan, {
    candidates: waiting.all,
    population: Math.max(nodes.length, waiting.all.length),
    room: waiting.restart.size > 0 ? roomForRestarts(plan, nodes) : waiting.all.length,
    all: emergency,
    hold: !emergency && (mustHoldWaves(seen.health) || isClockDisputed(seen, plan)),
    now: seen.now,
  })
}

export function waveEffects({ plan }: Situation, { restart, renew }: Waiting): Effect[] {
  return (plan.wave?.members ?? []).flatMap(({ consumer, notBefore }): Effect[] => {
    const effects: Effect[] = []
    const { instance, proof } = restart.get(consumer) ?? {}
    // Only a process that is known to be without the bundle: the one after it may not have reported yet.
    if (instance !== undefined && proof?.instance === instance)
      effects.push({ kind: 'restart', consumer, instance, generation: plan.bundle ?? 0, notBefore })
    if (renew.has(consumer)) effects.push({ kind: 'renew', holder: consumer, authority: plan.to, notBefore })
    return effects
  })
}

/** I12: nodes that are down already, by whatever cause, leave that much less room. */
function roomForRestarts({ policy }: Plan, nodes: readonly { unavailable?: boolean }[]): number {
  const most = Math.max(1, Math.floor((nodes.length * policy.maxUnavailablePercent) / 100))
  return most - nodes.filter(({ unavailable }) => unavailable).length
}

function mayRestart({ desired, emergency, mayRemove }: Situation): boolean {
  return desired.sinks !== 'narrow' || emergency || mayRemove()
}
