import type { ApprovalPolicy } from '../approve/policy.ts'
import { clusterDomain, serviceRange } from './identities.ts'

/**
 * The policy `up` and `server` start with: evidence is the Node's status; `up` allows exactly its fleet's loopback
 * addresses, which are reserved otherwise.
 */
export function defaultApprovalPolicy(fleetAddresses: readonly string[]): ApprovalPolicy {
  return {
    evidence: 'NodeStatus',
    allowedRanges: fleetAddresses.map(address => `${address}/32`),
    serviceRanges: [serviceRange],
    clusterDomain,
  }
}
