import { isStatus, type KubeClient } from '../kube/client.ts'
import { formatMicroTime } from '../kube/time-format.ts'
import { type Lease, resources } from '../kube/types.ts'

/** Where the leases of nodes are. */
const leaseNamespace = 'kube-node-lease'

export interface LeaseFacts {
  nodeName: string
  /** UID of the Node, which owns the lease. */
  nodeUid: string
  durationSeconds: number
  /** Laid over the lease's annotations. */
  annotations?: Readonly<Record<string, string>>
}

/** The lease as it is to be written at `now` (milliseconds since the epoch), on top of what is known of it. */
function renewedLease(known: Lease | undefined, facts: LeaseFacts, now: number): Lease {
  const { nodeName, nodeUid, durationSeconds, annotations } = facts
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    ...known,
    metadata: {
      ...known?.metadata,
      name: nodeName,
      namespace: leaseNamespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid }],
      ...(annotations && { annotations: { ...known?.metadata.annotations, ...annotations } }),
    },
    spec: {
      ...known?.spec,
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: formatMicroTime(now),
    },
  }
}

/**
 * Renews the lease: a PUT on what is known of it; one that changed or vanished meanwhile is read or created first.
 * Resolves with the lease as it is now; rejects with what the API answers.
 */
export async function renewLease(
  client: KubeClient,
  known: Lease | undefined,
  facts: LeaseFacts,
  now: () => number,
  signal: AbortSignal,
): Promise<Lease> {
  if (known) {
    try {
      return await client.update(resources.leases, renewedLease(known, facts, now()), { signal })
    } catch (error) {
      if (!isStatus(error, 'Conflict') && !isStatus(error, 'NotFound')) throw error
    }
  }
  const target = { name: facts.nodeName, namespace: leaseNamespace }
  let current: Lease
  try {
    current = await client.get<Lease>(resources.leases, target, signal)
  } catch (error) {
    if (!isStatus(error, 'NotFound')) throw error
    return client.create(resources.leases, renewedLease(undefined, facts, now()), { signal })
  }
  return client.update(resources.leases, renewedLease(current, facts, now()), { signal })
}

/** Lays annotations over those of a lease that somebody else renews. Rejects with what the API answers. */
export async function annotateLease(
  client: KubeClient,
  nodeName: string,
  annotations: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const target = { name: nodeName, namespace: leaseNamespace }
  await client.patch<Lease>(resources.leases, target, 'merge', { metadata: { annotations } }, signal)
}
