/** The Node's own status.addresses. The node writes them itself, so this stops mistakes, not a thief. */
import type { KubeNode, NodeAddress } from '../kube/types.ts'
import { canonicalAddress } from './canonical-name.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import type { RequestedSan } from './requested-sans.ts'

const dnsTypes: readonly string[] = ['Hostname', 'InternalDNS', 'ExternalDNS']
const ipTypes: readonly string[] = ['Hostname', 'InternalIP', 'ExternalIP']

interface Listed {
  ip: boolean
  /** What it is listed as where that proves something. */
  type?: NodeAddress['type']
  /** As it is written where it is an InternalIP. */
  internal?: string
}

/** By canonical form. Nodes are shared and never changed, so what they list is read once. */
const read = new WeakMap<KubeNode, ReadonlyMap<string, Listed>>()

/** K-73: a Hostname that parses as an IP address becomes an IP SAN; other types prove their own kind only. */
function listedOn(node: KubeNode): ReadonlyMap<string, Listed> {
  const known = read.get(node)
  if (known) return known
  const listed = new Map<string, Listed>()
  for (const { type, address } of node.status?.addresses ?? []) {
    const { ip, text } = canonicalAddress(address)
    const found = listed.get(text) ?? { ip }
    if ((ip ? ipTypes : dnsTypes).includes(type)) found.type ??= type
    if (type === 'InternalIP') found.internal ??= address
    listed.set(text, found)
  }
  read.set(node, listed)
  return listed
}

/** `Node worker-1 status.addresses InternalIP`, or undefined when no address proves the SAN. */
export function evidenceFor(san: RequestedSan, node: KubeNode): string | undefined {
  const { ip, type } = listedOn(node).get(san.canonical) ?? {}
  if (type === undefined || ip !== (san.kind === 'IP')) return undefined
  return `Node ${node.metadata.name} status.addresses ${type}`
}

/** What the Node says about itself; what others say about themselves is in the index of claims. */
export function nodeStatusEvidence(node: KubeNode | undefined): EvidenceProvider {
  return {
    name: `Node${node ? ` ${node.metadata.name}` : ''} status.addresses`,
    level: 'NodeStatus',
    evidence(nodeName, sans) {
      const proven = new Map<string, string>()
      if (node?.metadata.name !== nodeName) return { proven }
      for (const san of sans) {
        const source = evidenceFor(san, node)
        if (source !== undefined) proven.set(san.canonical, source)
      }
      return { proven }
    },
    holders: () => [],
  }
}

/** InternalIPs of the Node that the request leaves out: clients reach the kubelet by these. */
export function missingInternalIps(sans: readonly RequestedSan[], node: KubeNode): string[] {
  const requested = new Set(sans.map(san => san.canonical))
  return [...listedOn(node)].flatMap(([canonical, { internal }]) =>
    internal === undefined || requested.has(canonical) ? [] : [internal],
  )
}
