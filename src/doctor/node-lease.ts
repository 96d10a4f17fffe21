import type { Lease } from '../kube/types.ts'

export interface NodeLease {
  node: string
  /** Milliseconds since the epoch, by the node's clock; absent: never renewed. */
  renewed?: number
  durationMilliseconds: number
}

/** What a Lease in kube-node-lease says. */
export function nodeLease({ metadata, spec = {} }: Lease): NodeLease {
  const renewed = Date.parse(spec.renewTime ?? '')
  return {
    node: metadata.name,
    ...(!Number.isNaN(renewed) && { renewed }),
    durationMilliseconds: (spec.leaseDurationSeconds ?? 40) * 1000,
  }
}

/** Whether the node renewed its Lease within its duration; `now` in milliseconds since the epoch. */
export function isAlive({ renewed, durationMilliseconds }: NodeLease, now: number): boolean {
  return renewed !== undefined && now - renewed <= durationMilliseconds
}

/** Names of the nodes that are alive by their Leases. */
export function aliveNodes(leases: readonly Lease[], now: number): Set<string> {
  return new Set(leases.map(nodeLease).flatMap(lease => (isAlive(lease, now) ? [lease.node] : [])))
}
