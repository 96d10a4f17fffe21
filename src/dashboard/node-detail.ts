import { isStatus } from '../kube/client.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import type { Viewer } from './access/viewer.ts'
import type { FleetBoard } from './fleet/board.ts'
import type { RequestRow } from './fleet/rows.ts'

export interface NodeDetail {
  name: string
  created?: string
  addresses: { type: string; address: string }[]
  conditions: { type: string; status: string; reason: string; message: string }[]
  labels: [string, string][]
  kubelet?: string
  system?: string
  /** Its requests that are still kept, the latest first. */
  requests: RequestRow[]
}

/** For one who may list Nodes and requests; undefined: there is no such node. */
export async function nodeDetail(
  { client }: Viewer,
  board: FleetBoard,
  name: string,
): Promise<NodeDetail | undefined> {
  const node = await client.get<KubeNode>(resources.nodes, { name }).catch(error => {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  })
  if (!node) return undefined
  const { metadata, status = {} } = node
  return {
    name,
    ...(metadata.creationTimestamp && { created: metadata.creationTimestamp }),
    addresses: (status.addresses ?? []).map(({ type, address }) => ({ type, address })),
    conditions: (status.conditions ?? []).map(({ type, status, reason = '', message = '' }) => ({
      type,
      status,
      reason,
      message,
    })),
    labels: Object.entries(metadata.labels ?? {}),
    ...(status.nodeInfo && { kubelet: status.nodeInfo.kubeletVersion, system: status.nodeInfo.osImage }),
    requests: board.requestsOf(name),
  }
}
