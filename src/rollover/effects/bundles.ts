/** Trust into sinks, servers and consumers. */
import type { ConsumerFacts } from '../observations.ts'
import { stateOf } from '../standing.ts'
import type { Effect } from './effect.ts'
import type { Situation } from './situation.ts'

/** Sinks whose bundle is older; seeds of future machines after all others. */
export function publishing({ plan, seen, desired, emergency, mayRemove }: Situation): Effect[] {
  const { bundle } = plan
  if (desired.sinks === undefined || bundle === undefined) return []
  if (desired.sinks === 'narrow' && !emergency && !mayRemove()) return []
  const stale = seen.sinks.filter(({ generation }) => generation < bundle)
  const places = stale.filter(({ seed }) => !seed)
  return (places.length > 0 ? places : stale).map(({ id }) => ({
    kind: 'publish-bundle',
    sink: id,
    generation: bundle,
  }))
}

/** Servers judge clients by the bundle. Adding trust goes to all at once, dropping it one by one while all are well. */
export function serverTrust({ plan, seen, desired, emergency, mayRemove }: Situation): Effect[] {
  const { serverBundle } = plan
  if (desired.servers === undefined || serverBundle === undefined) return []
  const judging = seen.servers.filter(({ judgesBy }) => judgesBy !== undefined)
  const older = judging.filter(({ judgesBy = 0 }) => judgesBy < serverBundle)
  const orders = older.map(
    ({ id }): Effect => ({ kind: 'client-trust', server: id, generation: serverBundle }),
  )
  if (desired.servers === 'wide' || emergency) return orders
  return mayRemove() && judging.every(({ healthy }) => healthy) ? orders.slice(0, 1) : []
}

/** Orders to agents: have the bundle on disk, and in memory where that needs no restart. */
export function loading(situation: Situation): Effect[] {
  const { plan, desired, emergency, mayRemove } = situation
  const generation = plan.bundle
  if (desired.sinks === undefined || generation === undefined) return []
  if (desired.sinks === 'narrow' && !emergency && !mayRemove()) return []
  return withoutBundle(situation, generation)
    .filter(({ reloads, onDisk = 0 }) => reloads || onDisk < generation)
    .map(({ id }) => ({ kind: 'load-bundle', consumer: id, generation }))
}

/**
 * Consumers that have the bundle on disk and only take it by a restart. One that was restarted belongs to them until its
 * new process has reported.
 */
export function waitingForRestart(situation: Situation): ConsumerFacts[] {
  const { plan, desired } = situation
  const generation = plan.bundle
  if (desired.sinks === undefined || generation === undefined) return []
  return withoutBundle(situation, generation).filter(
    ({ reloads, onDisk = 0 }) => !reloads && onDisk >= generation,
  )
}

function withoutBundle({ plan, seen, jury }: Situation, bundle: number): ConsumerFacts[] {
  const { timings } = plan.policy
  return seen.consumers.filter(consumer => {
    const { orderable, proof, instance, roles } = consumer
    if (!orderable || !roles.includes(plan.role)) return false
    const has = proof?.instance === instance && proof.generation >= bundle
    return !has && stateOf(consumer, jury.excluded, seen.now, timings) === 'Live'
  })
}
