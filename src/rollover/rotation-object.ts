/** CARotation objects as plans, and steps as their status. */
import type { CARotationObject } from '../kube/rollcall/ca-rotation.ts'
import type { Condition } from '../kube/rollcall/trust-bundle.ts'
import type { Gate } from './gates/gate.ts'
import { finalPhases, newPlan, type Plan, type Wishes } from './plan.ts'
import { policyOf } from './policy.ts'
import type { Step } from './step.ts'

/** What a plan carries beside what its spec says; all of it is JSON. */
type State = Omit<Plan, 'id' | 'role' | 'reason' | 'author' | 'from' | 'to' | 'policy' | 'wishes'>
type Status = NonNullable<CARotationObject['status']>

/** As many blockers as status shows; `rollcall ca status` asks for the rest. */
const shown = 20

/**
 * The plan of a rotation as stored. One without state is new: `now` (milliseconds since the epoch) is when it begins, and
 * `after` the sequence at which the last rotation of the role ended. Throws RangeError on a malformed duration.
 */
export function planOf(rotation: CARotationObject, now: number, after = 0): Plan {
  const { spec, status, metadata } = rotation
  const { role, reason, author, from, to } = spec
  const asked = { id: metadata.uid ?? metadata.name, role, reason, author, from, to }
  const plan = newPlan({ ...asked, policy: policyOf(spec.policy), wishes: wishesOf(spec), now, after })
  return status?.state === undefined ? plan : { ...plan, ...(status.state as State) }
}

/** What the step came to, for status; conditions keep the time of their last change. `now` in milliseconds. */
export function statusOf(
  { plan, phase, gates, blockers }: Step,
  before: Status | undefined,
  now: number,
): Status {
  const { id: _, role: __, reason: ___, author: ____, from, to, policy, wishes, ...state } = plan
  const closed = gates.find(({ open }) => !open)
  return {
    phase,
    state,
    sequence: plan.sequence,
    gates: gates.map(shownGate),
    blockers: blockers.slice(0, shown).map(({ code, about, message }) => `${code}: ${about} ${message}`),
    proven: closed ? `${closed.name} ${closed.proven}/${closed.total}` : '',
    conditions: conditionsOf({ plan, phase, gates, blockers }, before?.conditions ?? [], now),
  }
}

function shownGate({ name, open, proven, total, blockers }: Gate) {
  return { name, open, proven, total, blockers: blockers.slice(0, shown).map(({ about }) => about) }
}

function conditionsOf(
  { plan, phase, blockers }: Omit<Step, 'effects'>,
  before: readonly Condition[],
  now: number,
): Condition[] {
  const over = finalPhases.has(plan.phase)
  const [first] = blockers
  const { paused } = plan
  const wanted: Omit<Condition, 'lastTransitionTime'>[] = [
    {
      type: 'Complete',
      status: plan.phase === 'Done' ? 'True' : 'False',
      reason: phase,
      message: `the rotation is ${phase}`,
    },
    {
      type: 'Progressing',
      status: over || paused ? 'False' : 'True',
      reason: paused?.reason ?? phase,
      message: paused
        ? `paused by ${paused.by} in ${plan.phase}; resume from sequence ${paused.sequence}`
        : `in ${phase}`,
    },
    {
      type: 'Blocked',
      status: first ? 'True' : 'False',
      reason: first?.code ?? 'NothingInTheWay',
      message: first ? `${first.about}: ${first.message}; ${blockers.length} in all` : 'no gate is closed',
    },
  ]
  return wanted.map(condition => {
    const known = before.find(({ type, status }) => type === condition.type && status === condition.status)
    return {
      ...condition,
      lastTransitionTime: known?.lastTransitionTime ?? new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
    }
  })
}

function wishesOf(spec: CARotationObject['spec']): Wishes {
  const {
    pause = false,
    resume = 0,
    rollback = false,
    approvals = [],
    exclusions = [],
    acknowledgements = [],
  } = spec
  return {
    pause,
    resume,
    rollback,
    approvals: approvals.map(({ by }) => by),
    exclusions: exclusions.map(({ consumer, by, reason, at }) => ({
      consumer,
      by,
      reason,
      at: Date.parse(at),
    })),
    acknowledgements: acknowledgements.map(({ consumer, by, at }) => ({ consumer, by, at: Date.parse(at) })),
    ...(spec.confirmation ? { confirmedBy: spec.confirmation.by } : {}),
  }
}
