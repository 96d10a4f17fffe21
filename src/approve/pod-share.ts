/**
 * Which pod ranges count as a Node's own. Where nobody allocates them a node may write its own `spec.podCIDR`, and 0.0.0.0/0
 * would be a claim to the address of every node that is still to come.
 */
import { parseIp } from '../x509/ip.ts'
import { contains, type IpRange } from './ip-range.ts'

/** What is known of a Node's claims, each with its place in the order in which they were first seen. */
export interface KnownClaims {
  /** Milliseconds since the epoch. */
  created: number | undefined
  /** By canonical name or address. */
  claims: ReadonlyMap<string, number>
}

export interface PodRange {
  range: IpRange
  since: number
}

/** Of 128: up to 4096 addresses are no more than a Node could list one by one. */
const narrow = 116

/** Whether it is a share of what pods get; a wide range in which another Node was before it is the nodes' own network. */
export function isPodShare(
  { range, since }: PodRange,
  owner: string,
  nodes: ReadonlyMap<string, KnownClaims>,
): boolean {
  if (range.bits >= narrow) return true
  const { created = Number.POSITIVE_INFINITY } = nodes.get(owner) ?? {}
  for (const [name, other] of nodes) {
    if (name === owner) continue
    const isOlder = (other.created ?? Number.POSITIVE_INFINITY) < created
    for (const [claim, at] of other.claims) {
      if (at > since || (at === since && !isOlder)) continue
      const address = parseIp(claim)
      if (address && contains(range, address)) return false
    }
  }
  return true
}
