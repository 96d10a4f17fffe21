import type { Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { hasProven, juryOf, stateOf, understandsAlgorithm, type Wanted } from '../standing.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/**
 * TRUST: every consumer of the role that is not excluded or gone has answered. Everyone seen counts, joiners from their
 * first contact on: the list is read now, it is no snapshot (gardener#15301).
 */
export function trustGate(plan: Plan, observations: Observations, wanted: Wanted): Gate {
  return answeredGate('TRUST', plan, observations, wanted, false)
}

/** NARROWED: whoever is there has this bundle or a newer one. Who is away takes it on return, and loses nothing till then. */
export function narrowedGate(plan: Plan, observations: Observations, bundle: number): Gate {
  return answeredGate('NARROWED', plan, observations, { authority: plan.to, atLeast: bundle }, true)
}

function answeredGate(
  name: string,
  plan: Plan,
  observations: Observations,
  wanted: Wanted,
  onlyPresent: boolean,
): Gate {
  const jury = juryOf(plan, observations)
  const { now, consumers } = observations
  const { timings } = plan.policy
  const blockers: Blocker[] = []
  let total = 0
  for (const consumer of consumers) {
    if (!consumer.roles.includes(plan.role)) continue
    const state = stateOf(consumer, jury.excluded, now, timings)
    if (state === 'Gone' || state === 'Excluded' || (onlyPresent && state === 'Offline')) continue
    total += 1
    const { id } = consumer
    if (!hasProven(consumer, wanted, jury)) {
      const failed = consumer.lastFailure !== undefined && consumer.lastFailure >= plan.phaseSince
      if (failed) blockers.push({ code: 'TrustFailure', about: id, message: 'refused a chain' })
      else if (state === 'Offline')
        blockers.push({ code: 'Offline', about: id, message: 'silent, and unproven' })
      else blockers.push({ code: 'Unproven', about: id, message: 'has not proven to have loaded the CA' })
    } else if (!understandsAlgorithm(consumer, jury))
      blockers.push({
        code: 'AlgorithmUnsupported',
        about: id,
        message: `is not known to verify ${jury.algorithm}`,
      })
  }
  return gate(name, total, blockers)
}
