/** How long the policy lets a certificate live, for the signer: also what asks for no lifetime is bound by it. */
import { RollcallError } from '../errors.ts'
import type { Facts } from './facts.ts'
import type { ApprovalPolicy } from './policy.ts'
import { termsOf } from './policy-terms.ts'
import { poolsKnown } from './rules/pools-known.ts'

/** Whether the policy says anything about it. */
export function boundsLifetime({ lifetime, pools = [] }: ApprovalPolicy): boolean {
  return [lifetime, ...pools.map(pool => pool.lifetime)].some(bound => bound?.maxSeconds !== undefined)
}

/**
 * Seconds; undefined: as long as the signer gives. While it is not known which pools the node is in, the shortest of all.
 * Throws POLICY_INVALID when the policy that was written cannot be used: it may have said less than the signer gives.
 */
export function longestLifetime(facts: Facts): number | undefined {
  const { policy, policyUnusable } = facts
  const { request } = facts.reading
  if (policyUnusable !== undefined && !policy)
    throw new RollcallError('POLICY_INVALID', `how long it may live is not known: ${policyUnusable}`)
  if (!policy || !request) return undefined
  const read = { ...facts, request }
  const bounds = poolsKnown.check(read)
    ? [policy.lifetime, ...(policy.pools ?? []).map(pool => pool.lifetime)].map(bound => bound?.maxSeconds)
    : [termsOf(read).lifetime.max]
  const most = Math.min(...bounds.map(bound => bound ?? Number.POSITIVE_INFINITY))
  return most === Number.POSITIVE_INFINITY ? undefined : most
}
