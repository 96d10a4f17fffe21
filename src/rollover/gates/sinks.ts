import { type BundleWant, fulfils } from '../bundle-choice.ts'
import type { Observations, SinkFacts } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/**
 * SINKS: every place that consumers take trust from, seeds of future machines too, was read back and holds the bundle that
 * the phase wants, or a newer one (I10).
 */
export function sinksGate(plan: Plan, want: BundleWant, { sinks, bundles }: Observations): Gate {
  const { bundle = 0 } = plan
  const chosen = bundles.find(({ generation }) => generation === bundle)
  if (chosen === undefined || !fulfils(want, plan, chosen.anchors)) {
    const message = `the trust roots have signed no ${want} bundle after ${bundle}`
    return gate('SINKS', sinks.length, [{ code: 'CeremonyNeeded', about: 'bundle', message }])
  }
  const stale = sinks
    .filter(({ generation }) => generation < bundle)
    .map(({ id, seed, generation, waitsFor }): Blocker => {
      const what = seed ? 'seeds new machines with' : 'holds'
      const wait = waitsFor === undefined ? '' : `; waits for ${waitsFor}`
      return {
        code: 'SinkStale',
        about: id,
        message: `${what} generation ${generation}, not ${bundle}${wait}`,
      }
    })
  return gate('SINKS', sinks.length, [...stale, ...notLetThrough(sinks)])
}

/** SEEDS: whatever trust anybody takes from now on includes this CA. By content, so that it holds while bundles change. */
export function seedsGate({ sinks }: Observations, authority: number): Gate {
  const without = sinks
    .filter(({ anchors }) => !anchors.includes(authority))
    .map(({ id }): Blocker => ({ code: 'SinkStale', about: id, message: `does not have CA ${authority}` }))
  return gate('SEEDS', sinks.length, [...without, ...notLetThrough(sinks)])
}

/** What a place holds has to bring a fresh machine through to what is served now: reading it back is not dialling. */
function notLetThrough(sinks: readonly SinkFacts[]): Blocker[] {
  return sinks.flatMap(({ id, refused }): Blocker[] => {
    if (refused === undefined) return []
    return [{ code: 'DialRefused', about: id, message: `does not bring a fresh machine through: ${refused}` }]
  })
}
