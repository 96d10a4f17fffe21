import type { KubeNode } from '../../kube/types.ts'
import type { NodeProbe } from '../artifacts/endpoint-artifacts.ts'
import type { LookAtTls } from './ports.ts'

/** Handshakes in flight. */
const parallel = 16
const kubeletPort = 10250

/** Looks at the serving certificate of each node, at the address that kube-apiserver would dial (H-4). */
export async function probeNodes(nodes: readonly KubeNode[], lookAtTls: LookAtTls): Promise<NodeProbe[]> {
  const queue = nodes.flatMap(node => {
    const host = dialledAddress(node)
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort
    return host === undefined ? [] : [{ node: node.metadata.name, host, port }]
  })
  const probes: NodeProbe[] = []
  async function work(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { node, host, port } = next
      probes.push({ node, ...(await lookAtTls({ host, port })) })
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  return probes.sort((a, b) => (a.node < b.node ? -1 : 1))
}

/** kubeadm's --kubelet-preferred-address-types, which metrics-server has by default as well. */
const preferredTypes = ['InternalIP', 'ExternalIP', 'Hostname']

function dialledAddress({ status }: KubeNode): string | undefined {
  const addresses = status?.addresses ?? []
  for (const type of preferredTypes) {
    const found = addresses.find(address => address.type === type)
    if (found) return found.address
  }
  return undefined
}
