import type { KeyAlgorithm } from '../keys/private-key.ts'
import { type NodeAddress, signerNames } from '../kube/types.ts'
import { formatIp, parseIp } from '../x509/ip.ts'

/** What a node wants to have certified. Values only; two templates that ask for the same are deeply equal. */
export interface CertificateTemplate {
  commonName: string
  organizations: readonly string[]
  /** Sorted, without duplicates. */
  dnsNames: readonly string[]
  /** In Go's printed form, sorted as strings, without duplicates. */
  ipAddresses: readonly string[]
  /** Kubernetes' usage words in the order of K-37. */
  usages: readonly string[]
  signerName: string
}

const nodesGroup = 'system:nodes'

/** The user name of a node (K-22, K-75). */
function nodeUserName(nodeName: string): string {
  return `system:node:${nodeName}`
}

/** K-37: `key encipherment` is second, and only for RSA keys (the API server's signer refuses it for others). */
export function usagesFor(
  purpose: 'client auth' | 'server auth',
  algorithm: KeyAlgorithm,
): readonly string[] {
  return algorithm.startsWith('RSA')
    ? ['digital signature', 'key encipherment', purpose]
    : ['digital signature', purpose]
}

/** The template of the kubelet's client certificate (K-22, K-37). It never changes while the node keeps its name. */
export function clientTemplate(nodeName: string, algorithm: KeyAlgorithm): CertificateTemplate {
  return {
    commonName: nodeUserName(nodeName),
    organizations: [nodesGroup],
    dnsNames: [],
    ipAddresses: [],
    usages: usagesFor('client auth', algorithm),
    signerName: signerNames.kubeletClient,
  }
}

/**
 * The template of the kubelet's serving certificate for the addresses of its Node object (K-72, K-73, K-75), or
 * undefined when they hold no IP address (K-74: no request is made then).
 */
export function servingTemplate(
  nodeName: string,
  addresses: readonly NodeAddress[],
  algorithm: KeyAlgorithm,
): CertificateTemplate | undefined {
  const { dnsNames, ipAddresses } = subjectAltNamesOf(addresses)
  if (ipAddresses.length === 0) return undefined
  return {
    commonName: nodeUserName(nodeName),
    organizations: [nodesGroup],
    dnsNames,
    ipAddresses,
    usages: usagesFor('server auth', algorithm),
    signerName: signerNames.kubeletServing,
  }
}

/** K-73: which address becomes which kind of SAN. Unknown types and empty or unparsable addresses are ignored. */
export function subjectAltNamesOf(addresses: readonly NodeAddress[]): {
  dnsNames: string[]
  ipAddresses: string[]
} {
  const dnsNames = new Set<string>()
  const ipAddresses = new Set<string>()
  for (const { type, address } of addresses) {
    if (address === '') continue
    const ip = canonicalIp(address)
    if (type === 'Hostname') {
      if (ip === undefined) dnsNames.add(address)
      else ipAddresses.add(ip)
    } else if (type === 'InternalIP' || type === 'ExternalIP') {
      if (ip !== undefined) ipAddresses.add(ip)
    } else if (type === 'InternalDNS' || type === 'ExternalDNS') {
      dnsNames.add(address)
    }
  }
  return { dnsNames: [...dnsNames].sort(), ipAddresses: [...ipAddresses].sort() }
}

/** The printed form of an IP address, or undefined. K-73: leading zeros of IPv4 numbers are dropped, not refused. */
function canonicalIp(address: string): string | undefined {
  const start = address.lastIndexOf(':') + 1
  const tail = address.slice(start)
  const numbers = tail.includes('.') ? tail.split('.').map(number => number.replace(/^0+(?=\d)/, '')) : [tail]
  const bytes = parseIp(address.slice(0, start) + numbers.join('.'))
  return bytes && formatIp(bytes)
}
