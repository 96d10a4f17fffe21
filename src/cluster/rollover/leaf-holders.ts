/** Who holds live leaves of which CA of a role: from the ledger, and what the control plane made for itself. */
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { signerNames } from '../../kube/types.ts'
import type { LeafHolder } from '../../rollover/observations.ts'
import type { Leaf } from '../../sign/leaf.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import type { PresentedLeaf } from './seen-consumers.ts'

/** The CA of which role signs for a signerName. */
export function roleOfSigner(signerName: string): TrustRole {
  return signerName === signerNames.kubeletServing ? 'kubelet-serving' : 'client'
}

export interface HolderParts {
  role: TrustRole
  /** CA of the role by the SHA-256 of its certificate. */
  generationOf(fingerprint: string): number | undefined
  /** The CA of the leaf that a node was seen to use last, and when. */
  inUse(node: string): number | undefined
  /** Nodes that take orders. */
  orderable(node: string): boolean
  /** Nodes that exist. */
  exists(node: string): boolean
  /** Client certificates in use that the ledger does not know. */
  foreign: readonly PresentedLeaf[]
  /** The control plane's own leaves of the role: name and CA. */
  own: ReadonlyMap<string, number>
  ownEnd: number
}

/**
 * A node has one certificate of a kind: older ones are out of use once it was seen to use a newer one of another CA. Of
 * other holders every leaf counts until it ends, since nobody knows where copies are.
 */
export function leafHolders(leaves: readonly Leaf[], parts: HolderParts): Map<number, LeafHolder[]> {
  const holders = new Map<number, Map<string, LeafHolder>>()
  const add = (authority: number, holder: LeafHolder) => {
    const known = holders.get(authority) ?? new Map<string, LeafHolder>()
    const before = known.get(holder.holder)
    if (!before || before.notAfter < holder.notAfter) known.set(holder.holder, holder)
    holders.set(authority, known)
  }
  for (const leaf of leaves) {
    if (roleOfSigner(leaf.signerName) !== parts.role) continue
    const authority = parts.generationOf(leaf.issuerFingerprint)
    if (authority === undefined) continue
    const node = nodeOfUser(leaf.holder)
    if (node === undefined) {
      add(authority, { holder: `user/${leaf.holder}`, notAfter: leaf.notAfter, renewable: false })
      continue
    }
    const used = parts.inUse(node)
    if (!parts.exists(node) || (used !== undefined && used !== authority)) continue
    add(authority, { holder: `kubelet/${node}`, notAfter: leaf.notAfter, renewable: parts.orderable(node) })
  }
  for (const { authority, user, notAfter } of parts.foreign)
    add(authority, { holder: `user/${user}`, notAfter, renewable: false })
  for (const [holder, authority] of parts.own)
    add(authority, { holder, notAfter: parts.ownEnd, renewable: true })
  return new Map([...holders].map(([authority, known]) => [authority, [...known.values()]]))
}
