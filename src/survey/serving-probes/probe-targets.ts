import type { KubeNode } from '../../kube/types.ts'
import { formatIp, parseIp } from '../../x509/ip.ts'

export interface ProbeTarget {
  node: string
  host: string
  port: number
}

const kubeletPort = 10_250

/**
 * Where to look at each node: at its first InternalIP that no other Node claims, and that is an address of a machine. A
 * node writes its addresses itself: what may be somebody else's is not knocked at on its word.
 */
export function probeTargets(nodes: readonly KubeNode[], loopback: boolean): ProbeTarget[] {
  const claims = new Map<string, Set<string>>()
  const internal = nodes.map(node => ({ node, addresses: internalAddresses(node) }))
  for (const { node, addresses } of internal)
    for (const address of addresses) {
      const by = claims.get(address) ?? new Set()
      claims.set(address, by.add(node.metadata.name))
    }
  return internal.flatMap(({ node, addresses }) => {
    const host = addresses.find(address => claims.get(address)?.size === 1 && isOfMachine(address, loopback))
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort
    return host === undefined ? [] : [{ node: node.metadata.name, host, port }]
  })
}

/** In one form each: the same address may be written in several. */
function internalAddresses({ status }: KubeNode): string[] {
  return (status?.addresses ?? []).flatMap(({ type, address }) => {
    const ip = type === 'InternalIP' ? parseIp(address) : undefined
    return ip ? [formatIp(ip)] : []
  })
}

function isOfMachine(address: string, loopback: boolean): boolean {
  if (/^127\.|^::1$/.test(address)) return loopback
  // Unspecified, link-local (metadata services among them), multicast and broadcast.
  return !/^(0\.|169\.254\.|22[4-9]\.|23\d\.|255\.|::$|fe[89ab]|ff)/i.test(address)
}
