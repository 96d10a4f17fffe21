import type { ChainMode, Observations, ServerFacts } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { isClockDisputed } from '../standing.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/** SERVED: every server that presents a chain of the role presents this one, long enough, and who should verify it does. */
export function servedGate(plan: Plan, observations: Observations, authority: number, mode: ChainMode): Gate {
  const presenting = observations.servers.filter(({ presents }) => presents !== undefined)
  const disputed = isClockDisputed(observations, plan)
  const blockers = presenting.flatMap(server => {
    const code =
      whyNotServed(server, plan, observations.now, authority, mode) ??
      (disputed ? 'ClockDisputed' : undefined)
    return code === undefined ? [] : [blockerOf(code, server, authority, mode)]
  })
  return gate('SERVED', presenting.length, blockers)
}

function whyNotServed(
  { presents, probes, healthy }: ServerFacts,
  { policy, reason }: Plan,
  now: number,
  authority: number,
  mode: ChainMode,
): Blocker['code'] | undefined {
  if (presents === undefined || !isPresented(presents, { authority, mode }) || !healthy)
    return 'ChainNotServed'
  // A bridged chain is for everybody; a bare one for who trusts its CA.
  const verified = probes?.both === true && (mode !== 'bridged' || (probes.oldOnly && probes.newOnly))
  if (!verified) return 'ChainNotServed'
  // 3.8: while the stolen CA is trusted anywhere its thief can be anybody; a soak would give him that time.
  const soaks = reason !== 'Compromise' && now - presents.since < policy.timings.bridgeSoak
  return soaks ? 'Soaking' : undefined
}

/** The chain of the old CA has one form only: `old`. */
export function isPresented(presents: PresentedChain, wanted: PresentedChain): boolean {
  return presents.authority === wanted.authority && (wanted.mode === 'old' || presents.mode === wanted.mode)
}

export interface PresentedChain {
  authority: number
  mode: ChainMode
}

function blockerOf(code: Blocker['code'], { id }: ServerFacts, authority: number, mode: ChainMode): Blocker {
  const what = `the ${mode} chain of CA ${authority}`
  const message =
    code === 'Soaking'
      ? `serves ${what} for too short a time`
      : `does not serve ${what} with all probes passing`
  return { code, about: id, message }
}
