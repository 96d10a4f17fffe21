/** Questions whose answers open gates. */

import { hasRefused, refusalSample, sampled } from '../gates/refused.ts'
import type { ConsumerFacts } from '../observations.ts'
import { hasProven, stateOf } from '../standing.ts'
import type { Effect } from './effect.ts'
import type { Situation } from './situation.ts'

/**
 * Handshakes with the bare chain, for whoever is there and has to prove by one: who has not, not with the bundle that the
 * phase asks for, or so long ago that the proof will soon be too old.
 */
export function probing({ plan, seen, desired, jury }: Situation): Effect[] {
  const authority = desired.probe
  if (authority === undefined) return []
  const { minimumProof, timings } = plan.policy
  const afterNarrowing = plan.narrowedAt !== undefined || desired.sinks === 'narrow'
  const wanted = { authority, atLeast: afterNarrowing ? (plan.bundle ?? 0) : 0 }
  const isFresh = ({ proof }: ConsumerFacts) =>
    proof !== undefined && seen.now - proof.at < timings.proofAge / 2
  return seen.consumers
    .filter(consumer => consumer.roles.includes(plan.role) && minimumProof[consumer.kind] >= 3)
    .filter(consumer => stateOf(consumer, jury.excluded, seen.now, timings) === 'Live')
    .filter(consumer => !hasProven(consumer, wanted, jury) || !isFresh(consumer))
    .map(({ id }) => ({ kind: 'probe', consumer: id, authority }))
}

/** L4: some of those that have dropped the CA are shown its bare chain. */
export function sampling({ plan, seen, desired }: Situation): Effect[] {
  const { bundle } = plan
  const authority = desired.refuse
  if (authority === undefined || desired.sinks !== 'narrow' || bundle === undefined) return []
  const able = sampled(plan, seen)
  const silent = able.filter(consumer => !hasRefused(consumer, authority))
  return silent
    .filter(({ proof, instance }) => proof?.instance === instance && proof.generation >= bundle)
    .slice(0, Math.max(0, refusalSample - (able.length - silent.length)))
    .map(({ id }) => ({ kind: 'probe-refusal', consumer: id, authority }))
}

/** L4: servers that dropped the CA are shown a certificate of it. */
export function refusing({ seen, desired }: Situation): Effect[] {
  const authority = desired.refuse
  if (authority === undefined) return []
  return seen.servers
    .filter(
      ({ accepts, refused }) => accepts && !accepts.includes(authority) && !refused?.includes(authority),
    )
    .map(({ id }) => ({ kind: 'try-refusal', server: id, authority }))
}
