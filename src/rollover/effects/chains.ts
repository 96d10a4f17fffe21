/** What servers present. */
import { isPresented, type PresentedChain } from '../gates/served.ts'
import type { ServerFacts } from '../observations.ts'
import { isClockDisputed } from '../standing.ts'
import type { Effect } from './effect.ts'
import type { Situation } from './situation.ts'

export function presenting(situation: Situation): Effect[] {
  const { seen, desired, emergency } = situation
  const wanted = desired.present
  if (wanted === undefined || !isSafe(situation, wanted)) return []
  const servers = seen.servers.filter(({ presents }) => presents !== undefined)
  const others = servers.filter(({ presents }) => presents && !isPresented(presents, wanted))
  const orders = others.map(({ id }): Effect => ({ kind: 'present', server: id, ...wanted }))
  if (emergency || wanted.mode === 'old' || others.some(({ presents }) => isStepBack(presents, wanted)))
    return orders
  return isNextDue(servers, others, situation) ? orders.slice(0, 1) : []
}

/** A bare chain asks for trust in its CA alone; the others can be verified by whoever could before. */
function isSafe(
  { plan, seen, emergency, newIsTrusted, oldIsTrusted }: Situation,
  { mode }: PresentedChain,
): boolean {
  if (emergency) return true
  if (mode === 'bridged') return true
  if (mode === 'old') return plan.narrowedAt === undefined || oldIsTrusted()
  // The deadline has left somebody behind: the bridge stays until the old CA has ended.
  const hasEnded = seen.now > (seen.authorities.get(plan.from)?.notAfter ?? 0) && !isClockDisputed(seen, plan)
  const bridgeStays = plan.deadline && !hasEnded
  return newIsTrusted() && !bridgeStays
}

/** One replica first, for the soak; then one by one, each when those before it serve and are well. */
function isNextDue(
  servers: readonly ServerFacts[],
  others: readonly ServerFacts[],
  { plan, seen }: Situation,
): boolean {
  const done = servers.filter(server => !others.includes(server))
  const well = servers.every(({ healthy }) => healthy) && done.every(({ probes }) => probes?.both === true)
  const soaked = done.some(
    ({ presents }) => seen.now - (presents?.since ?? seen.now) >= plan.policy.timings.bridgeSoak,
  )
  return well && (done.length === 0 || soaked)
}

/** From bare back to bridged: then all at once, somebody waits. */
function isStepBack(presents: PresentedChain | undefined, wanted: PresentedChain): boolean {
  return presents?.authority === wanted.authority && presents.mode === 'bare' && wanted.mode === 'bridged'
}
