/**
 * The one place that decides what a rotation does next: a pure function of the plan and of what is observed. It runs in
 * the controller, in `ca readiness`, in the simulation and in the model check alike.
 */
import { bundleWith } from './bundle-choice.ts'
import { desiredIn } from './desired.ts'
import type { Effect, Order } from './effects/effect.ts'
import { effectsOf } from './effects/effects-of.ts'
import { situationOf } from './effects/situation.ts'
import { waitingIn, waveIn } from './effects/wave-effects.ts'
import { exclusionsNow } from './exclusions.ts'
import type { Blocker, Gate } from './gates/gate.ts'
import type { Observations } from './observations.ts'
import { gatesOf } from './phases.ts'
import { finalPhases, type Phase, type Plan } from './plan.ts'
import { isClockDisputed } from './standing.ts'
import { moved, refusedIfBehind, withExclusions } from './transition.ts'

export interface Step {
  /**
   * The plan from now on. Where its sequence has risen it must be stored, with the resourceVersion it was read at, before
   * any effect: a second orchestrator then loses at the store and does nothing.
   */
  plan: Plan
  phase: Phase | 'Paused'
  effects: readonly Effect[]
  /** What the phase waits for. */
  gates: readonly Gate[]
  /** Everything that stands in the way. */
  blockers: readonly Blocker[]
}

/** Decides from `plan` (as stored) and `seen`. Says the same for the same arguments, and may be asked at any time. */
export function step(plan: Plan, seen: Observations): Step {
  if (seen.leader.token < plan.fencing) return fenced(plan, seen)
  if (seen.gatheredAfter < plan.sequence) return nothing(plan, staleBlocker(plan, seen))
  const over = finalPhases.has(plan.phase)
  if (seen.leader.token > plan.fencing && !over) return takingOver(plan, seen)
  const next = over ? plan : recorded(plan, evolved(plan, seen), seen)
  const gates = gatesOf(next, seen)
  return {
    plan: next,
    phase: next.paused ? 'Paused' : next.phase,
    effects: effectsOf(next, seen),
    gates,
    blockers: [...ownBlockers(next, seen), ...gates.flatMap(({ blockers }) => blockers)],
  }
}

/** The effects as they go out, each with what its receiver needs to refuse those of a former leader or an older step. */
export function ordersOf({ plan, effects }: Step): Order[] {
  return effects.map(effect => ({ effect, token: plan.fencing, sequence: plan.sequence }))
}

function evolved(plan: Plan, seen: Observations): Plan {
  const judged = withExclusions(plan, seen, exclusionsNow(plan, seen))
  return withWave(withBundles(moved(judged, seen), seen), seen)
}

/** What has changed counts as one more in the sequence. */
function recorded(before: Plan, after: Plan, { leader }: Observations): Plan {
  return after === before ? before : { ...after, sequence: before.sequence + 1, fencing: leader.token }
}

/**
 * A new leader first counts itself in, which shuts the old one out, and does nothing else: what it has seen so far may be
 * older than the last orders of the old one.
 */
function takingOver(plan: Plan, seen: Observations): Step {
  return nothing(recorded(plan, { ...refusedIfBehind(plan, seen) }, seen))
}

/** The bundles that the phase wants, chosen once: generations only rise. */
function withBundles(plan: Plan, seen: Observations): Plan {
  const { sinks, servers } = desiredIn(plan)
  const bundle =
    sinks === undefined ? plan.bundle : (bundleWith(sinks, plan, seen, plan.bundle) ?? plan.bundle)
  const base = plan.serverBundle ?? plan.bundle
  const serverBundle =
    servers === undefined ? plan.serverBundle : (bundleWith(servers, plan, seen, base) ?? plan.serverBundle)
  const narrowedAt = plan.narrowedAt ?? (sinks === 'narrow' ? bundle : undefined)
  if (bundle === plan.bundle && serverBundle === plan.serverBundle && narrowedAt === plan.narrowedAt)
    return plan
  return {
    ...plan,
    ...(bundle === undefined ? {} : { bundle }),
    ...(serverBundle === undefined ? {} : { serverBundle }),
    ...(narrowedAt === undefined ? {} : { narrowedAt }),
  }
}

function withWave(plan: Plan, seen: Observations): Plan {
  if (plan.paused || finalPhases.has(plan.phase)) return plan
  const situation = situationOf(plan, seen)
  const wave = waveIn(situation, waitingIn(situation))
  return wave === undefined || wave === plan.wave ? plan : { ...plan, wave }
}

function fenced(plan: Plan, { leader }: Observations): Step {
  const message = `token ${leader.token} is older than ${plan.fencing}: another orchestrator leads`
  return nothing(plan, { code: 'Fenced', about: leader.identity, message })
}

function staleBlocker({ sequence }: Plan, { gatheredAfter, leader }: Observations): Blocker {
  const message = `facts gathered after sequence ${gatheredAfter} say nothing about ${sequence}; gather them again`
  return { code: 'StaleObservations', about: leader.identity, message }
}

function nothing(plan: Plan, ...blockers: Blocker[]): Step {
  return { plan, phase: plan.paused ? 'Paused' : plan.phase, effects: [], gates: [], blockers }
}

function ownBlockers(plan: Plan, seen: Observations): Blocker[] {
  return [...stuckOrders(plan, seen), ...disputedClocks(plan, seen), ...unsignedServerBundle(plan, seen)]
}

function stuckOrders(plan: Plan, { stuck = [], awaited = [] }: Observations): Blocker[] {
  if (finalPhases.has(plan.phase)) return []
  return [
    ...stuck.map(({ about, message }): Blocker => ({ code: 'OrderFailed', about, message })),
    ...awaited.map(({ about, message }): Blocker => ({ code: 'StepAwaited', about, message })),
  ]
}

/** Servers keep what they have until the roots have signed what the phase wants of them. */
function unsignedServerBundle(plan: Plan, seen: Observations): Blocker[] {
  const { servers } = desiredIn(plan)
  const base = plan.serverBundle ?? plan.bundle
  if (servers === undefined || bundleWith(servers, plan, seen, base) !== undefined) return []
  const message = `no ${servers} bundle after ${base} is signed for servers; hold a ceremony`
  return [{ code: 'CeremonyNeeded', about: 'trust roots', message }]
}

function disputedClocks(plan: Plan, seen: Observations): Blocker[] {
  if (!isClockDisputed(seen, plan)) return []
  const message = `${Math.round(seen.clockSkew / 1000)} s apart: nothing that time decides goes on`
  return [{ code: 'ClockDisputed', about: 'clocks', message }]
}
