/** Which Nodes claim which names and addresses, kept up to date Node by Node: cluster-wide uniqueness in O(1). */
import type { KubeNode } from '../kube/types.ts'
import { canonicalAddress, canonicalDns } from './canonical-name.ts'
import type { AddressClaims } from './facts.ts'

/** What a Node claims: its own name and all of status.addresses, in canonical form. */
export function claimedBy(node: KubeNode): Set<string> {
  const claims = new Set([canonicalDns(node.metadata.name)])
  for (const { address } of node.status?.addresses ?? [])
    if (address) claims.add(canonicalAddress(address).text)
  return claims
}

export class AddressIndex implements AddressClaims {
  readonly #holders = new Map<string, Set<string>>()
  readonly #claims = new Map<string, Set<string>>()

  /** Takes the Node in, or its new state. */
  set(node: KubeNode): void {
    this.remove(node.metadata.name)
    const claims = claimedBy(node)
    this.#claims.set(node.metadata.name, claims)
    for (const claim of claims) {
      const holders = this.#holders.get(claim)
      if (holders) holders.add(node.metadata.name)
      else this.#holders.set(claim, new Set([node.metadata.name]))
    }
  }

  remove(nodeName: string): void {
    for (const claim of this.#claims.get(nodeName) ?? []) {
      const holders = this.#holders.get(claim)
      holders?.delete(nodeName)
      if (holders?.size === 0) this.#holders.delete(claim)
    }
    this.#claims.delete(nodeName)
  }

  /** Names of the Nodes that claim it, sorted. */
  holders(canonical: string): readonly string[] {
    return [...(this.#holders.get(canonical) ?? [])].sort()
  }
}
