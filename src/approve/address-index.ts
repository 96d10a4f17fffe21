/** Which Nodes claim which names and addresses, kept up to date Node by Node: cluster-wide uniqueness in O(1). */
import type { KubeNode } from '../kube/types.ts'
import { parseIp } from '../x509/ip.ts'
import { canonicalAddress, ownName } from './canonical-name.ts'
import type { AddressClaims, Claim } from './facts.ts'
import { IpPrefixes, rangeOrNone } from './ip-prefixes.ts'
import { contains } from './ip-range.ts'
import { isPodShare, type KnownClaims, type PodRange } from './pod-share.ts'

/** What a Node claims: its own name and all of status.addresses, in canonical form. */
export function claimedBy(node: KubeNode): Set<string> {
  const name = ownName(node.metadata.name)
  const claims = new Set(name === undefined ? [] : [name])
  for (const { address } of node.status?.addresses ?? [])
    if (address) claims.add(canonicalAddress(address).text)
  return claims
}

interface Known extends KnownClaims {
  /** By text. */
  podRanges: Map<string, PodRange>
}

export class AddressIndex implements AddressClaims {
  readonly #holders = new Map<string, Set<string>>()
  readonly #nodes = new Map<string, Known>()
  readonly #podRanges = new IpPrefixes()
  /** Whether wide pod ranges count, for as long as the claims are what they are. */
  #shares = new WeakMap<PodRange, boolean>()

  /**
   * Takes the Node in, or its new state. `seen` grows from state to state: claims are in the order in which they were
   * first seen, one that was there before keeps its place. 0, for what was there before anybody looked, is before all.
   */
  set(node: KubeNode, seen = 0): void {
    const { name, creationTimestamp } = node.metadata
    const before = this.#nodes.get(name)
    this.#drop(name)
    const claims = new Map([...claimedBy(node)].map(claim => [claim, before?.claims.get(claim) ?? seen]))
    const ranges = node.spec?.podCIDRs ?? [node.spec?.podCIDR ?? '']
    const podRanges = new Map(
      ranges.flatMap(text => {
        const range = text === '' ? undefined : rangeOrNone(text)
        return range ? [[text, { range, since: before?.podRanges.get(text)?.since ?? seen }] as const] : []
      }),
    )
    const isNew =
      claims.size !== before?.claims.size || [...claims.keys()].some(one => !before.claims.has(one))
    if (isNew) this.#shares = new WeakMap()
    const created = Date.parse(creationTimestamp ?? '')
    this.#nodes.set(name, { created: Number.isNaN(created) ? undefined : created, claims, podRanges })
    for (const claim of claims.keys()) {
      const holders = this.#holders.get(claim)
      if (holders) holders.add(name)
      else this.#holders.set(claim, new Set([name]))
    }
    for (const { range } of podRanges.values()) this.#podRanges.add(range, name)
  }

  remove(nodeName: string): void {
    this.#drop(nodeName)
    this.#shares = new WeakMap()
  }

  #drop(nodeName: string): void {
    const known = this.#nodes.get(nodeName)
    for (const claim of known?.claims.keys() ?? []) {
      const holders = this.#holders.get(claim)
      holders?.delete(nodeName)
      if (holders?.size === 0) this.#holders.delete(claim)
    }
    for (const { range } of known?.podRanges.values() ?? []) this.#podRanges.remove(range, nodeName)
    this.#nodes.delete(nodeName)
  }

  /** Names of the Nodes that claim it, sorted. */
  holders(canonical: string): readonly string[] {
    const holders = this.#holders.get(canonical)
    if (holders === undefined) return []
    return holders.size === 1 ? [...holders] : [...holders].sort()
  }

  claims(canonical: string): readonly Claim[] {
    const exact = this.holders(canonical).map((nodeName): Claim => {
      const source = ownName(nodeName) === canonical ? 'metadata.name' : 'status.addresses'
      return { nodeName, source, since: this.#nodes.get(nodeName)?.claims.get(canonical) ?? 0 }
    })
    if (this.#podRanges.size === 0) return exact
    const address = parseIp(canonical)
    const pods = address ? this.#podRanges.ownersOf(address) : []
    return [...exact, ...pods.flatMap(nodeName => this.#podClaims(nodeName, address))]
  }

  #podClaims(nodeName: string, address: Uint8Array | undefined): Claim[] {
    const around = [...(this.#nodes.get(nodeName)?.podRanges.values() ?? [])].filter(
      podRange => address && contains(podRange.range, address) && this.#isShare(podRange, nodeName),
    )
    if (around.length === 0) return []
    return [{ nodeName, source: 'spec.podCIDRs', since: Math.max(...around.map(({ since }) => since)) }]
  }

  #isShare(podRange: PodRange, nodeName: string): boolean {
    const known = this.#shares.get(podRange)
    if (known !== undefined) return known
    const isShare = isPodShare(podRange, nodeName, this.#nodes)
    this.#shares.set(podRange, isShare)
    return isShare
  }

  has(nodeName: string): boolean {
    return this.#nodes.has(nodeName)
  }

  created(nodeName: string): number | undefined {
    return this.#nodes.get(nodeName)?.created
  }
}
