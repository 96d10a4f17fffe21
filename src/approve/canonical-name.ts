/** One spelling a name: compared by value, never by text (approvers 2.11: IPv4-mapped, upper case, trailing dot). */
import { formatIp, parseIp } from '../x509/ip.ts'

/** Lower case without one trailing dot. */
export function canonicalDns(name: string): string {
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase()
}

/** Go's text of the address; an IPv4-mapped IPv6 address gives the IPv4 text. */
export const canonicalIp: (bytes: Uint8Array) => string = formatIp

/** The canonical form of a Node's address: as an IP address where it is one. */
export function canonicalAddress(address: string): { ip: boolean; text: string } {
  const bytes = parseIp(address)
  return bytes ? { ip: true, text: canonicalIp(bytes) } : { ip: false, text: canonicalDns(address) }
}

/**
 * The name as which nobody but the Node of this name can be certified, in canonical form. Undefined for a Node that is
 * named like an address: whoever holds a bootstrap token chooses the name, and an address belongs to who has it (K-73).
 */
export function ownName(nodeName: string): string | undefined {
  return parseIp(nodeName) ? undefined : canonicalDns(nodeName)
}

/** DNS-1123 subdomain, what a Node's metadata.name must be: lower case, at most 253 characters. */
export function isNodeName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)
}
