/** How an operator wants kubelet serving requests judged. */
import { RollcallError } from '../errors.ts'
import type { RequiredEvidence } from './evidence/level.ts'
import { parseRange } from './ip-range.ts'
import { isRestrictedLabel } from './node-labels.ts'

export interface ApprovalPolicy {
  /**
   * The level at which every SAN must be proven. NodeStatus: on the Node's status.addresses, which stops mistakes, not a
   * node that rewrites its own status. Inventory: in the inventory, which nodes cannot write.
   */
  evidence: RequiredEvidence
  /** Levels for some nodes; of several pools that a node is in the strictest counts, without any `evidence`. */
  pools?: readonly Pool[]
  /** Where the inventory is. */
  inventory?: InventoryLocation
  /** CIDRs whose loopback, link-local and similar addresses, and those that Services publish, may be certified all the same. */
  allowedRanges: readonly string[]
  /** The cluster's service CIDRs: never certified for a node. */
  serviceRanges?: readonly string[]
  /** The cluster's pod CIDRs: never certified for a node. */
  podRanges?: readonly string[]
  /** Names and addresses of the API servers and their load balancer: never certified for a node. */
  apiServers?: readonly string[]
  /** Default `cluster.local`. */
  clusterDomain?: string
  /** Seconds after creation that a request may wait for its Node and addresses; default 300, below the kubelet's 900. */
  waitSeconds?: number
  /** Groups whose members may ask for a first client certificate; default `system:bootstrappers`. */
  bootstrapGroups?: readonly string[]
  /** Whether a bootstrap identity may ask for a node whose Node is there; default `allow`, as Kubernetes does. */
  rebootstrap?: 'allow' | 'deny'
  /** Whether an address that a node gave up stays its own while its certificate lives; default `held`. */
  releasedAddresses?: 'held' | 'free'
  /** Approvals an hour that one node may have of one signer; default 120. */
  approvalsPerHour?: number
}

export interface Pool {
  name: string
  evidence: RequiredEvidence
  /** All of them on the Node. Only labels that a node cannot change on itself: under node-restriction.kubernetes.io/. */
  nodeLabels?: Readonly<Record<string, string>>
  /** All of them in the inventory's entry. */
  inventoryAttributes?: Readonly<Record<string, string>>
}

/** Exactly one of them. */
export interface InventoryLocation {
  /** `namespace/name` */
  configMap?: string
  /** `namespace/name` */
  secret?: string
  /** A path on the controller's disk. */
  file?: string
}

export const defaultWaitSeconds = 300
export const defaultClusterDomain = 'cluster.local'
export const defaultBootstrapGroups: readonly string[] = ['system:bootstrappers']
export const defaultApprovalsPerHour = 120

/** Throws RollcallError POLICY_INVALID for the first range that is no CIDR, and for a pool that proves nothing. */
export function checkPolicy(policy: ApprovalPolicy): void {
  const { allowedRanges, serviceRanges = [], podRanges = [], pools = [], inventory } = policy
  for (const range of [...allowedRanges, ...serviceRanges, ...podRanges]) parseRange(range)
  for (const pool of pools) checkPool(pool)
  if (inventory) checkInventory(inventory)
  const wants = [policy, ...pools].some(({ evidence }) => evidence === 'Inventory')
  if (!inventory && (wants || pools.some(pool => pool.inventoryAttributes)))
    throw invalid('evidence Inventory and inventoryAttributes need `inventory` to say where it is')
}

function checkPool({ name, nodeLabels = {}, inventoryAttributes = {} }: Pool): void {
  if (Object.keys(nodeLabels).length + Object.keys(inventoryAttributes).length === 0)
    throw invalid(`pool "${name}" selects by nothing; the level for all other nodes is \`evidence\``)
  const writable = Object.keys(nodeLabels).find(label => !isRestrictedLabel(label))
  if (writable !== undefined)
    throw invalid(
      `pool "${name}" selects by label "${writable}", which a node can change; use one under node-restriction.kubernetes.io/`,
    )
}

function checkInventory(inventory: InventoryLocation): void {
  const { configMap, secret, file } = inventory
  if ([configMap, secret, file].filter(place => place !== undefined).length !== 1)
    throw invalid('inventory must be exactly one of configMap, secret and file')
  const object = configMap ?? secret
  if (object !== undefined && !/^[^/]+\/[^/]+$/.test(object))
    throw invalid(`inventory "${object}" must be written namespace/name`)
}

const invalid = (why: string) => new RollcallError('POLICY_INVALID', why)
