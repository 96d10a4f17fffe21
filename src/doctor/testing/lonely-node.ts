/** One Node, and nobody who approves or signs for it. */
import type { Report } from '../diagnose.ts'
import type { ExaminedCluster } from './examined-cluster.ts'

export const minute = 60_000

/** What this node asks its serving certificate for. */
export const ownRequest = { node: 'worker-1', dns: ['worker-1'], ips: ['10.0.0.11'] }

/** A Node, alive, without any controller. */
export async function lonelyNode(cluster: ExaminedCluster): Promise<void> {
  await cluster.register('worker-1', [
    ['InternalIP', '10.0.0.11'],
    ['Hostname', 'worker-1'],
  ])
}

/** The node lives on meanwhile. */
export async function later(cluster: ExaminedCluster, milliseconds: number): Promise<void> {
  cluster.clock.step(milliseconds)
  await cluster.beat('worker-1')
}

export const foundIds = ({ findings }: Report): string[] => findings.map(({ id }) => id)
