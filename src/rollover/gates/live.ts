import type { Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { isClockDisputed } from '../standing.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/**
 * LIVE: nothing that is alive depends on this CA any longer. No leaf of it is live in the ledger, for anyone who is not
 * excluded; the ledger misses none; no server presents it; and nobody has presented a chain of it for the quiet time.
 */
export function liveGate(plan: Plan, observations: Observations, authority: number): Gate {
  const { now, leaves, servers } = observations
  const excluded = new Set(plan.excluded.map(({ consumer }) => consumer))
  const disputed = isClockDisputed(observations, plan)
  // A clock that is ahead sees leaves end that are alive: by how far clocks may differ, and altogether when they dispute.
  const hasEnded = (notAfter: number) => !disputed && notAfter + plan.policy.timings.clockSkew < now
  const holders = (leaves.holders.get(authority) ?? []).filter(
    ({ holder, notAfter }) => !hasEnded(notAfter) && !excluded.has(holder),
  )
  const blockers = holders.map(({ holder }): Blocker => {
    return { code: 'LiveLeaf', about: holder, message: `holds a live certificate of CA ${authority}` }
  })
  for (const { id, presents } of servers)
    if (presents?.authority === authority)
      blockers.push({ code: 'ChainNotServed', about: id, message: `still presents CA ${authority}` })
  if (!leaves.ledgerComplete) {
    const message = 'is younger than the longest certificate; wait, or acknowledge that nothing is missing'
    blockers.push({ code: 'LedgerIncomplete', about: 'ledger', message })
  }
  const users = [...(leaves.lastUsed.get(authority) ?? [])].filter(([user, used]) => {
    // Who is left behind goes on until it is refused.
    return !excluded.has(user) && (disputed || now - used < plan.policy.timings.quiet)
  })
  for (const [about] of users)
    blockers.push({ code: 'OldChainInUse', about, message: `has used a chain of CA ${authority} lately` })
  return gate('LIVE', holders.length + servers.length + 1 + users.length, blockers)
}
