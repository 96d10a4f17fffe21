/** A phase's wishes beside the world as it is, with the checks that dangerous effects ask for at every step. */
import { type Desired, desiredIn } from '../desired.ts'
import { acceptedGate } from '../gates/refused.ts'
import type { Observations } from '../observations.ts'
import { removeGates, trustsNew, trustsOld } from '../phases.ts'
import type { Plan } from '../plan.ts'
import { type Jury, juryOf } from '../standing.ts'

export interface Situation {
  plan: Plan
  seen: Observations
  desired: Desired
  jury: Jury
  emergency: boolean
  /**
   * P4: a phase that was reached is no proof that its gate is open still. Each of these is read from the observations of
   * this very step; what they guard stops when they close.
   */
  newIsTrusted(): boolean
  oldIsTrusted(): boolean
  oldIsAccepted(): boolean
  newIsAccepted(): boolean
  mayRemove(): boolean
}

export function situationOf(plan: Plan, seen: Observations): Situation {
  return {
    plan,
    seen,
    desired: desiredIn(plan),
    jury: juryOf(plan, seen),
    emergency: plan.reason === 'Compromise',
    newIsTrusted: once(() => trustsNew(plan, seen).open),
    oldIsTrusted: once(() => trustsOld(plan, seen).open),
    oldIsAccepted: once(() => acceptedGate(seen, plan.from).open),
    newIsAccepted: once(() => acceptedGate(seen, plan.to).open),
    mayRemove: once(() => removeGates(plan, seen).every(({ open }) => open)),
  }
}

function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}
