import { type BundleWant, fulfils } from '../bundle-choice.ts'
import type { Observations } from '../observations.ts'
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
    .map(({ id, seed, generation }): Blocker => {
      const what = seed ? 'seeds new machines with' : 'holds'
      return { code: 'SinkStale', about: id, message: `${what} generation ${generation}, not ${bundle}` }
    })
  return gate('SINKS', sinks.length, stale)
}

/** SEEDS: whatever trust anybody takes from now on includes this CA. By content, so that it holds while bundles change. */
export function seedsGate({ sinks }: Observations, authority: number): Gate {
  const without = sinks
    .filter(({ anchors }) => !anchors.includes(authority))
    .map(({ id }): Blocker => ({ code: 'SinkStale', about: id, message: `does not have CA ${authority}` }))
  return gate('SEEDS', sinks.length, without)
}
