/** How an operator wants kubelet serving requests judged. */
import { parseRange } from './ip-range.ts'

export interface ApprovalPolicy {
  /** NodeStatus: every SAN must be on the Node's status.addresses. Stops mistakes, not a node that rewrites its own status. */
  evidence: 'NodeStatus'
  /** CIDRs whose loopback, link-local and similar addresses may be certified all the same. */
  allowedRanges: readonly string[]
  /** The cluster's service CIDRs: never certified for a node. */
  serviceRanges?: readonly string[]
  /** Default `cluster.local`. */
  clusterDomain?: string
  /** Seconds after creation that a request may wait for its Node and addresses; default 300, below the kubelet's 900. */
  waitSeconds?: number
  /** Groups whose members may ask for a first client certificate; default `system:bootstrappers`. */
  bootstrapGroups?: readonly string[]
}

export const defaultWaitSeconds = 300
export const defaultClusterDomain = 'cluster.local'
export const defaultBootstrapGroups: readonly string[] = ['system:bootstrappers']

/** Throws RollcallError POLICY_INVALID for the first range that is no CIDR. */
export function checkPolicy(policy: ApprovalPolicy): void {
  for (const range of [...policy.allowedRanges, ...(policy.serviceRanges ?? [])]) parseRange(range)
}
