/** What judgement knows of the cluster, kept up to date: Nodes, who is certified for what, inventory, reserved addresses. */
import { startReflector } from '../kube/reflector.ts'
import { isRestrictedLabel } from '../kube/restricted-labels.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { retryDelay } from '../kube/work-queue.ts'
import { sleep } from '../ports.ts'
import { AddressIndex } from './address-index.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { CertifiedIndex } from './certified-addresses.ts'
import { externalSources } from './evidence/external/external-sources.ts'
import { type FollowedProtection, followProtection } from './evidence/follow-protection.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import type { Facts } from './facts.ts'
import { followInventories } from './inventory/follow-inventories.ts'
import { controlPlaneLabel } from './node-labels.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { PolicySource } from './policy-source.ts'
import { followReserved } from './reserved/follow-reserved.ts'

export interface ClusterFacts {
  /** To be told of every change of a request, and of what is about to be approved. */
  readonly certified: CertifiedIndex
  /** What stands in all facts alike, as of now. */
  facts(): Pick<Facts, 'claims' | 'certified' | 'evidence' | 'reserved' | 'protection'>
  /** The sources that a policy names. */
  evidence(policy: ApprovalPolicy | undefined): readonly EvidenceProvider[] | undefined
  /** Asks the sources outside the cluster that a policy names about a node, for who asked us. Never rejects. */
  askSources(policy: ApprovalPolicy | undefined, nodeName: string, requester: string): Promise<void>
  /** To be called when there are other policies. */
  policiesChanged(): void
  node(name: string): KubeNode | undefined
  /** Whether all Nodes were seen. */
  nodesSynced(): boolean
  /** Resolves when the certificates in the ledger are known; rejects when the first try to read it failed. */
  readonly ledgerTried: Promise<void>
  /**
   * Resolves when everything that can be read was: an address is free only when all was seen. Rejects while the ledger
   * cannot be read, which is tried again.
   */
  settled(): Promise<void>
  stop(): Promise<void>
}

/** Of the pauses that grow (C-2), those between tries to read the ledger: from 3.2 to 51 seconds. */
const [firstPause, longestPause] = [4, 8]

/** `onNode` is called for every change of a Node, `onInventory` when the inventory says something else. */
export function followCluster(
  options: ApprovalOptions,
  policies: PolicySource,
  onNode: (nodeName: string) => void,
  onInventory: () => void,
): ClusterFacts {
  const { client, clock, random, log, watchTimeoutSeconds } = options
  const shared = { client, clock, random, log }
  const claims = new AddressIndex()
  const certified = new CertifiedIndex()
  const stopping = new AbortController()
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
  const inventories = followInventories({
    ...shared,
    disk: options.disk,
    watchTimeoutSeconds,
    onChange: onInventory,
  })
  let protection: FollowedProtection | undefined
  const policiesChanged = () => {
    const loaded = [policies.inForce(), ...policies.shadows()]
    const all = loaded.flatMap(found => (found ? [found.policy] : []))
    inventories.use(all)
    // Once somebody asked for it, it is followed: whether it counts must be known before it is asked again.
    if (!stopping.signal.aborted && all.some(wantsProtection))
      protection ??= followProtection({ ...shared, watchTimeoutSeconds, onChange: onInventory })
  }
  policiesChanged()

  async function readLedger(): Promise<void> {
    for await (const leaf of options.issued ?? []) certified.addLeaf(leaf, clock.now())
  }

  const ledgerTried = readLedger()
  /** The latest try. Whoever awaits it is told; until it succeeds nothing that depends on it is approved. */
  let ledgerRead = ledgerTried

  async function readUntilKnown(): Promise<void> {
    for (let failures = firstPause; !stopping.signal.aborted; failures++) {
      try {
        return await ledgerRead
      } catch (error) {
        log.error('the ledger cannot be read: no serving request is approved until it can', {
          error: String(error),
        })
      }
      await sleep(clock, retryDelay(Math.min(failures, longestPause)), stopping.signal)
      if (!stopping.signal.aborted) ledgerRead = readLedger()
    }
  }

  const external = externalSources(options.evidenceSources ?? [], clock)
  const evidenceOf = (policy: ApprovalPolicy | undefined) => [
    ...(inventories.of(policy) ?? []),
    ...external.of(policy),
  ]

  void readUntilKnown()
  const others = Promise.all([nodes.synced, reserved.settled, options.csrsSynced])
  // Nothing is lost: `settled` awaits it anew each time and rejects with it. Without a handler of its own, the process
  // would end where it rejects before anybody asked.
  others.catch(() => {})
  return {
    certified,
    facts: () => ({
      claims,
      certified,
      reserved: reserved.index,
      evidence: evidenceOf(policies.inForce()?.policy),
      protection: protection?.state(),
    }),
    evidence: evidenceOf,
    askSources: external.refresh,
    policiesChanged,
    node: name => nodes.get(name),
    nodesSynced: () => nodes.hasSynced(),
    ledgerTried,
    async settled() {
      await Promise.all([others, ledgerRead, policies.settled])
      // Which inventory there is depends on the policy.
      await Promise.all([inventories.settled(), protection?.settled])
    },
    async stop() {
      stopping.abort()
      external.stop()
      await Promise.all([nodes.stop(), reserved.stop(), inventories.stop(), protection?.stop()])
    },
  }
}

const wantsProtection = ({ evidence, pools = [] }: ApprovalPolicy) =>
  [evidence, ...pools.map(pool => pool.evidence)].includes('ProtectedNodeStatus')

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
