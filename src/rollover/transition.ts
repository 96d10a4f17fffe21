/** From phase to phase: at most one change a step, each with its reason in the history. */

import { situationOf } from './effects/situation.ts'
import { waitingIn } from './effects/wave-effects.ts'
import { schedule } from './expiry.ts'
import { type BlockerCode, evidenceOf, type Gate } from './gates/gate.ts'
import { appended } from './history.ts'
import type { Observations } from './observations.ts'
import { gatesOf, type PhaseRule, rollbackFrom, ruleOf, trustsNew } from './phases.ts'
import type { Phase, Plan } from './plan.ts'
import { isClockDisputed } from './standing.ts'
import { hasFailed, isOverdue } from './waves.ts'

const askedToPause = 'AskedToPause'

/** The plan after what people wish, what gates allow, what time forbids. The same object where nothing changes. */
export function moved(plan: Plan, seen: Observations): Plan {
  // Going on would trust again what the emergency has dropped.
  if (seen.supersededBy !== undefined && plan.reason !== 'Compromise')
    return toPhase(plan, seen, 'Aborted', 'Superseded', [])
  const back = plan.wishes.rollback ? rollbackFrom(plan.phase) : undefined
  if (back !== undefined) return toPhase(plan, seen, back, 'AskedToRollBack', [])
  if (plan.paused) return resumed(plan, seen)
  if (plan.wishes.pause) return paused(plan, seen, askedToPause, [])
  return byGates(withDeadline(begunByNow(plan, seen), seen), seen)
}

/** A phase that a clock began that was ahead would not time out before that time comes: it begins now. */
function begunByNow(plan: Plan, seen: Observations): Plan {
  if (plan.phaseSince <= seen.now || isClockDisputed(seen, plan)) return plan
  return noted({ ...plan, phaseSince: seen.now }, seen, plan.phase, 'ClockWasAhead', [])
}

function byGates(plan: Plan, seen: Observations): Plan {
  const rule = ruleOf(plan.phase)
  if (rule === undefined) return plan
  const gates = gatesOf(plan, seen)
  const failure = rule.onTrustFailure
  if (failure !== undefined && isRefused(plan, seen))
    return backAndPaused(plan, seen, failure, 'TrustFailure', gates)
  const closed = gates.filter(gate => !gate.open && !isOverruled(gate, plan))
  if (closed.length === 0) return toPhase(plan, seen, rule.next, 'GatesOpen', gates)
  const trouble = isStuck(plan, seen) ? 'OrderFailed' : waveTrouble(plan, seen)
  if (trouble !== undefined) return paused(plan, seen, trouble, gates)
  return isTimedOut(plan, rule, closed, seen) ? afterTimeout(plan, rule, seen, gates) : plan
}

function afterTimeout(plan: Plan, { timeout }: PhaseRule, seen: Observations, gates: readonly Gate[]): Plan {
  if (timeout === undefined) return plan
  if (timeout.to === 'Abort') return toPhase(plan, seen, 'Aborted', 'TimedOut', gates)
  if (timeout.to === 'Pause') return paused(plan, seen, 'TimedOut', gates)
  return backAndPaused(plan, seen, timeout.to, 'TimedOut', gates)
}

/** What waits for a human waits as long as it takes. */
const forPeople: ReadonlySet<BlockerCode> = new Set<BlockerCode>([
  'CeremonyNeeded',
  'ApprovalMissing',
  'ConfirmationNeeded',
  'LedgerIncomplete',
])

function isTimedOut(
  plan: Plan,
  { timeout }: PhaseRule,
  closed: readonly Gate[],
  seen: Observations,
): boolean {
  if (timeout === undefined || isClockDisputed(seen, plan)) return false
  if (closed.every(({ blockers }) => blockers.every(({ code }) => forPeople.has(code)))) return false
  const times = timeout.times === 'servers' ? Math.max(1, seen.servers.length) : 1
  return seen.now - plan.phaseSince > plan.policy.timings[timeout.after] * times
}

/**
 * 3.7: when waiting means that everybody loses trust, places that were not read back do not hold the switch; they still
 * hold the removal. Consumers that lag are excluded by name (exclusions.ts).
 */
function isOverruled({ name }: Gate, { deadline, phase }: Plan): boolean {
  const waits = phase === 'Distributing' || phase === 'Proving'
  return deadline && waits && (name === 'SINKS' || name === 'SEEDS')
}

function withDeadline(plan: Plan, seen: Observations): Plan {
  if (!isDeadline(plan, seen)) return plan
  return noted({ ...plan, deadline: true }, seen, plan.phase, 'DeadlineMode', [])
}

/** Whether the deadline has come for a rotation that has not switched yet and does not know of it. */
function isDeadline(plan: Plan, seen: Observations): boolean {
  const old = seen.authorities.get(plan.from)
  const waits = plan.phase === 'Distributing' || plan.phase === 'Proving'
  if (plan.deadline || !waits || old === undefined || isClockDisputed(seen, plan)) return false
  return seen.now >= schedule(old, plan.policy.timings).deadline
}

function isRefused(plan: Plan, seen: Observations): boolean {
  return trustsNew(plan, seen).blockers.some(({ code }) => code === 'TrustFailure')
}

/** What failed for good is not tried for ever. An emergency goes on with all the rest. */
function isStuck({ reason }: Plan, { stuck = [] }: Observations): boolean {
  return stuck.length > 0 && reason !== 'Compromise'
}

function waveTrouble(plan: Plan, seen: Observations): string | undefined {
  const { wave } = plan
  if (wave === undefined) return undefined
  if (hasFailed(wave, seen.health.failedInWave)) return 'WaveFailures'
  if (isClockDisputed(seen, plan) || plan.reason === 'Compromise') return undefined
  return isOverdue(plan, waitingIn(situationOf(plan, seen)).all, seen.now) ? 'WaveTimedOut' : undefined
}

const early: ReadonlySet<Phase> = new Set<Phase>(['Preflight', 'Prepared', 'Distributing', 'Proving'])

/** 3.10: on taking over, what is stored must not be behind what the world shows; else a human looks first. */
export function refusedIfBehind(plan: Plan, seen: Observations): Plan {
  const { servers, signer } = seen
  if (plan.paused || !early.has(plan.phase)) return plan
  const ahead =
    signer.authority === plan.to || servers.some(({ presents }) => presents?.authority === plan.to)
  return ahead ? paused(plan, seen, 'StateMismatch', []) : plan
}

function resumed(plan: Plan, seen: Observations): Plan {
  const { wishes, paused: pause } = plan
  if (pause === undefined || wishes.pause) return plan
  const { paused: _, wave: __, ...rest } = plan
  // Time spent in a pause is no time of the phase.
  const going = { ...rest, phaseSince: seen.now }
  // A pause that nobody asked for does not outlast the moment from which waiting means that everybody loses trust.
  if (isDeadline(plan, seen)) return noted({ ...going, deadline: true }, seen, 'Paused', 'DeadlineMode', [])
  if (pause.reason !== askedToPause && wishes.resume < pause.sequence) return plan
  return noted(going, seen, 'Paused', 'Resumed', [])
}

function paused(plan: Plan, seen: Observations, reason: string, gates: readonly Gate[]): Plan {
  const pause = { since: seen.now, sequence: plan.sequence + 1, reason, by: seen.leader.identity }
  return noted({ ...plan, paused: pause }, seen, plan.phase, reason, gates.map(evidenceOf), 'Paused')
}

function backAndPaused(
  plan: Plan,
  seen: Observations,
  phase: Phase,
  reason: string,
  gates: readonly Gate[],
): Plan {
  return paused(toPhase(plan, seen, phase, reason, gates), seen, reason, [])
}

function toPhase(plan: Plan, seen: Observations, phase: Phase, reason: string, gates: readonly Gate[]): Plan {
  const { wave: _, paused: __, ...rest } = plan
  return noted({ ...rest, phase, phaseSince: seen.now }, seen, plan.phase, reason, gates.map(evidenceOf))
}

/** I14: who is left behind, or back, is history. */
export function withExclusions(plan: Plan, seen: Observations, excluded: Plan['excluded']): Plan {
  if (excluded === plan.excluded) return plan
  const told = excluded.map(({ consumer, by, reason }) => `${consumer} by ${by}: ${reason}`)
  return noted({ ...plan, excluded }, seen, plan.phase, 'Exclusions', told)
}

function noted(
  plan: Plan,
  { now, leader }: Observations,
  from: string,
  reason: string,
  evidence: readonly string[],
  to: string = plan.phase,
): Plan {
  const entry = { sequence: plan.sequence + 1, at: now, actor: leader.identity, from, to, reason, evidence }
  return { ...plan, history: appended(plan.history, plan.id, entry) }
}
