import { isStatus, listAll } from '../kube/client.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import type { Viewer } from './access/viewer.ts'
import { type RequestRow, readNews } from './fleet/rows.ts'

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

/** With the viewer's own rights; undefined: there is no such node. */
export async function nodeDetail(
  { client }: Viewer,
  name: string,
  now: number,
): Promise<NodeDetail | undefined> {
  const node = await client.get<KubeNode>(resources.nodes, { name }).catch(error => {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  })
  if (!node) return undefined
  const { items } = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests)
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
    requests: items
      .map(csr => readNews(csr, now))
      .filter(({ subject, asker }) => subject === name || asker === name)
      .map(({ row }) => row)
      .sort((a, b) => b.created - a.created),
  }
}
