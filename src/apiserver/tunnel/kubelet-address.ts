import type { KubeNode } from '../../kube/types.ts'

/** kube-apiserver's --kubelet-preferred-address-types, as it is by default (H-4). */
export const defaultAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
/** What kubeadm sets it to: nodes are reached without a name service that knows them. */
export const kubeadmAddressTypes = ['InternalIP', 'ExternalIP', 'Hostname']

const defaultPort = 10_250

export interface KubeletAddress {
  /** The Node's name. */
  node: string
  /** Also the name that the serving certificate must hold (H-4). */
  host: string
  port: number
}

/** Where the kubelet of a node listens; a sentence of Kubernetes when the Node does not tell. */
export function kubeletAddress(node: KubeNode, preferred: readonly string[]): KubeletAddress | string {
  const addresses = node.status?.addresses ?? []
  const known = preferred.flatMap(type => addresses.find(address => address.type === type) ?? [])
  const [first] = known
  if (!first) {
    const seen = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
    return `no preferred addresses found; known addresses: [${seen}]`
  }
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  return {
    node: node.metadata.name,
    host: first.address,
    port: port > 0 && port < 65_536 ? port : defaultPort,
  }
}

/** `host:port`, an IPv6 address in brackets: Go's net.JoinHostPort. */
export function hostPort({ host, port }: Pick<KubeletAddress, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
