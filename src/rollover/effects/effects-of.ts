/** All that should be done now: the difference between how the phase wants the world and how it is. */
import type { Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { loading, publishing, serverTrust } from './bundles.ts'
import { presenting } from './chains.ts'
import type { Effect } from './effect.ts'
import { preparing, reconnecting, signing } from './issuing.ts'
import { probing, refusing, sampling } from './proofs.ts'
import { isRestoring } from './restoring.ts'
import { type Situation, situationOf } from './situation.ts'
import { waitingIn, waveEffects } from './wave-effects.ts'

export function effectsOf(plan: Plan, seen: Observations): Effect[] {
  if (plan.phase === 'Done') return [retirement(plan, seen)]
  const situation = situationOf(plan, seen)
  const effects = allEffects(situation)
  // I13: a pause stops everything but the way back to what everybody can verify.
  return plan.paused === undefined ? effects : effects.filter(effect => isRestoring(effect, seen))
}

function allEffects(situation: Situation): Effect[] {
  return [
    ...preparing(situation),
    ...publishing(situation),
    ...serverTrust(situation),
    ...loading(situation),
    ...presenting(situation),
    ...signing(situation),
    ...reconnecting(situation),
    ...probing(situation),
    ...refusing(situation),
    ...sampling(situation),
    ...waveEffects(situation, waitingIn(situation)),
  ]
}

/** P2: a key is kept for the way back, and is of no use when its CA has ended. */
function retirement({ from, phaseSince, policy }: Plan, { authorities }: Observations): Effect {
  const kept = phaseSince + policy.timings.keyRetention
  const ended = authorities.get(from)?.notAfter ?? kept
  return { kind: 'retire-key', authority: from, notBefore: Math.min(kept, ended) }
}
