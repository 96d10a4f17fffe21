/** What judgement knows of the cluster, kept up to date: Nodes, who is certified for what, inventory, reserved addresses. */
import { startReflector } from '../kube/reflector.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { AddressIndex } from './address-index.ts'
import { CertifiedIndex } from './certified-addresses.ts'
import type { ApprovalOptions } from './controller.ts'
import type { Facts } from './facts.ts'
import { type FollowedInventory, followInventory } from './inventory/follow-inventory.ts'
import { controlPlaneLabel, isRestrictedLabel } from './node-labels.ts'
import { followReserved } from './reserved/follow-reserved.ts'

export interface ClusterFacts {
  /** To be told of every change of a request, and of what is about to be approved. */
  readonly certified: CertifiedIndex
  /** What stands in all facts alike, as of now. */
  facts(): Pick<Facts, 'claims' | 'certified' | 'evidence' | 'reserved'>
  node(name: string): KubeNode | undefined
  /** Whether all Nodes were seen. */
  nodesSynced(): boolean
  /** Resolves when all certificates are known that will be: those of requests that are there, and of the ledger. */
  readonly certificatesKnown: Promise<void>
  /** Resolves when everything that can be read was: an address is free only when all was seen. */
  readonly settled: Promise<void>
  stop(): Promise<void>
}

/** `onNode` is called for every change of a Node, `onInventory` when the inventory says something else. */
export function followCluster(
  options: ApprovalOptions,
  onNode: (nodeName: string) => void,
  onInventory: () => void,
): ClusterFacts {
  const { client, clock, random, log, policy, watchTimeoutSeconds } = options
  const shared = { client, clock, random, log }
  const claims = new AddressIndex()
  const certified = new CertifiedIndex()
  let changes = 0
  const nodes = startReflector<KubeNode>({
    ...shared,
    resource: resources.nodes,
    ...(watchTimeoutSeconds && { watchSeconds: watchTimeoutSeconds }),
    project: judgedFields,
    onChange(type, node, previous) {
      options.onNode?.(type, node, previous)
      if (type === 'DELETED') claims.remove(node.metadata.name)
      // What was there before anybody looked came before what is seen to come.
      else claims.set(node, nodes.hasSynced() ? ++changes : 0)
      onNode(node.metadata.name)
    },
  })
  const reserved = followReserved({ ...shared, watchTimeoutSeconds })
  const inventory: FollowedInventory | undefined =
    policy?.inventory &&
    followInventory({
      ...shared,
      location: policy.inventory,
      disk: options.disk,
      watchTimeoutSeconds,
      onChange: onInventory,
    })

  async function readCertificates(): Promise<void> {
    await options.csrsSynced
    for await (const entry of options.issued ?? []) certified.addEntry(entry, clock.now())
  }

  const certificatesKnown = readCertificates()
  const seen = [nodes.synced, reserved.settled, inventory?.settled, certificatesKnown]
  const settled = Promise.all(seen).then(() => {})
  // Whoever awaits them is told, each time; until then nothing that depends on them is approved.
  certificatesKnown.catch(() => {})
  settled.catch(() => {})
  return {
    certified,
    facts: () => ({
      claims,
      certified,
      reserved: reserved.index,
      ...(inventory && { evidence: [inventory.inventory] }),
    }),
    node: name => nodes.get(name),
    nodesSynced: () => nodes.hasSynced(),
    certificatesKnown,
    settled,
    async stop() {
      await Promise.all([nodes.stop(), reserved.stop(), inventory?.stop()])
    },
  }
}

/**
 * 5000 Nodes take a sixth of the memory so. Of the labels only those that a node cannot set on itself; of the conditions
 * the one that a node stamps with its own clock.
 */
function judgedFields({ apiVersion, kind, metadata, spec, status }: KubeNode): KubeNode {
  const { name, uid, resourceVersion, creationTimestamp, labels = {} } = metadata
  const kept = Object.entries(labels).filter(
    ([label]) => isRestrictedLabel(label) || label === controlPlaneLabel,
  )
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
      ...(kept.length > 0 ? { labels: Object.fromEntries(kept) } : {}),
    },
    ...(spec?.podCIDR ? { spec: { podCIDR: spec.podCIDR, podCIDRs: spec.podCIDRs ?? [spec.podCIDR] } } : {}),
    status: {
      addresses: status?.addresses ?? [],
      conditions: (status?.conditions ?? []).filter(({ type }) => type === 'Ready'),
    },
  }
}
