/** The Node's own status.addresses. The node writes them itself, so this stops mistakes, not a thief. */
import type { KubeNode, NodeAddress } from '../kube/types.ts'
import { canonicalAddress } from './canonical-name.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import type { RequestedSan } from './requested-sans.ts'

const dnsTypes: readonly string[] = ['Hostname', 'InternalDNS', 'ExternalDNS']
const ipTypes: readonly string[] = ['Hostname', 'InternalIP', 'ExternalIP']

/** K-73: a Hostname that parses as an IP address becomes an IP SAN; other types prove their own kind only. */
function provenBy(san: RequestedSan, { type, address }: NodeAddress): boolean {
  const { ip, text } = canonicalAddress(address)
  if (text !== san.canonical || ip !== (san.kind === 'IP')) return false
  return (san.kind === 'IP' ? ipTypes : dnsTypes).includes(type)
}

/** `Node worker-1 status.addresses InternalIP`, or undefined when no address proves the SAN. */
export function evidenceFor(san: RequestedSan, node: KubeNode): string | undefined {
  const address = node.status?.addresses?.find(candidate => provenBy(san, candidate))
  return address && `Node ${node.metadata.name} status.addresses ${address.type}`
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
  const internal = node.status?.addresses?.filter(({ type }) => type === 'InternalIP') ?? []
  return internal
    .map(({ address }) => address)
    .filter(address => !requested.has(canonicalAddress(address).text))
}
