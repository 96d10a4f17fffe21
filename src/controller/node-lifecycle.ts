/** Marks nodes whose Lease has stopped as Ready=Unknown, as kube-controller-manager's node lifecycle controller does. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { startReflector } from '../kube/reflector.ts'
import { formatTime } from '../kube/time-format.ts'
import { type KubeNode, type Lease, type NodeCondition, resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'

export interface NodeLifecycleOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
}

/** Milliseconds without a renewal of its Lease after which nothing is known of a node. */
export const gracePeriod = 40_000

/** The conditions that a kubelet reports; all of them are unknown when it is silent. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/**
 * The conditions of a node that has fallen silent, or undefined where they say so already. `now` in milliseconds since the
 * epoch. Texts and reason are Kubernetes' own.
 */
export function silentConditions(node: KubeNode, now: number): NodeCondition[] | undefined {
  const conditions = node.status?.conditions ?? []
  const stale = kubeletConditions.filter(type => {
    const condition = conditions.find(entry => entry.type === type)
    // Ready is added where it is missing; the others only matter where the kubelet reported them.
    return condition ? condition.status !== 'Unknown' : type === 'Ready'
  })
  if (stale.length === 0) return undefined
  return stale.map(type => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
    lastTransitionTime: formatTime(now),
  }))
}

/**
 * A renewal is dated by when it was seen here, never by the time that the node wrote into it: a node whose clock is wrong is
 * alive all the same. After a start each node therefore has a whole grace period.
 */
export function startNodeLifecycle(options: NodeLifecycleOptions): { stop(): Promise<void> } {
  const { client, clock, random, log } = options
  /** Node name to the monotonic moment at which its Lease was last seen to change. */
  const seen = new Map<string, number>()
  const queue = startWorkQueue({ name: 'node-lifecycle', workers: 1, clock, log, process: look })
  const shared = { client, clock, random, log }
  const nodes = startReflector<KubeNode>({
    ...shared,
    resource: resources.nodes,
    onChange(type, { metadata }) {
      if (type === 'DELETED') seen.delete(metadata.name)
      else if (!seen.has(metadata.name)) alive(metadata.name)
    },
  })
  const leases = startReflector<Lease>({
    ...shared,
    resource: resources.leases,
    selectors: { namespace: 'kube-node-lease' },
    onChange(type, lease, previous) {
      const renewed = lease.spec?.renewTime !== previous?.spec?.renewTime
      if (type !== 'DELETED' && renewed) alive(lease.metadata.name)
    },
  })

  function alive(name: string): void {
    seen.set(name, clock.monotonic())
    queue.addAfter(name, gracePeriod)
  }

  async function look(name: string, signal: AbortSignal): Promise<number | undefined> {
    const node = nodes.get(name)
    const last = seen.get(name)
    if (!node || last === undefined || signal.aborted) return undefined
    const left = last + gracePeriod - clock.monotonic()
    if (left > 0) return left
    const conditions = silentConditions(node, clock.now())
    if (!conditions) return undefined
    log.warn('a node has fallen silent', {
      node: name,
      lease: 'kube-node-lease',
      seconds: gracePeriod / 1000,
    })
    try {
      const target = { name, subresource: 'status' }
      await client.patch(resources.nodes, target, 'strategic-merge', { status: { conditions } }, signal)
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
    }
    return undefined
  }

  return {
    async stop() {
      await Promise.all([queue.stop(), nodes.stop(), leases.stop()])
    },
  }
}
