/** What is known of the certificates that nodes hold, as numbers. */
import { type CertificateSigningRequest, signerNames } from '../kube/types.ts'
import type { Certificate } from '../x509/certificate.ts'
import { nodeOfSubject } from './node-identity.ts'
import { readableLeaf, readIssued } from './request-facts.ts'

export const certificateKinds = ['client', 'serving'] as const
export type CertificateKind = (typeof certificateKinds)[number]

/**
 * - `valid`; `overdue`: still valid, and should have been renewed; `expired`; `not_yet_valid` for another minute or more
 * - `unknown`: none was seen. Requests are deleted an hour after they were answered (C-40), so after a restart that is
 *   what is known of a node until it renews.
 */
const certificateStates = ['valid', 'overdue', 'expired', 'not_yet_valid', 'unknown'] as const
export type CertificateState = (typeof certificateStates)[number]

/** Milliseconds since the epoch. */
interface Validity {
  notBefore: number
  notAfter: number
}

export interface CertificateNumbers {
  states: Record<CertificateState, number>
  /** The first end of the newest certificate of any node, lapsed or not; milliseconds since the epoch. */
  earliestExpiry: number | undefined
}

/** The latest point at which a kubelet renews (K-33). */
const latestDeadline = 0.9
/** Milliseconds that a renewal may take: an hour, or a twentieth of the life where that is longer. */
const shortestSlack = 3_600_000
const slackOfLife = 0.05
/** Milliseconds that a certificate may begin in the future: no clocks agree exactly. */
const toleratedSkew = 60_000
/** Milliseconds that an expired certificate of a name without a Node is remembered. */
const forgetAfter = 86_400_000

const kinds: Readonly<Record<string, CertificateKind>> = {
  [signerNames.kubeletClient]: 'client',
  [signerNames.kubeletServing]: 'serving',
}

/** Remembers the newest certificate of each node and kind, beyond the life of the request that it came with. */
export class NodeCertificates {
  readonly #newest = { client: new Map<string, Validity>(), serving: new Map<string, Validity>() }

  /**
   * Takes a request in; one without a certificate that can be read says nothing. `read`: its certificate, where somebody
   * read it already.
   */
  see(csr: CertificateSigningRequest, read?: Certificate): void {
    const kind = kinds[csr.spec.signerName]
    if (!kind || !csr.status?.certificate) return
    const leaf = read ?? readableLeaf(readIssued(csr))
    const node = leaf && nodeOfSubject(leaf.subject)
    if (!leaf || node === undefined) return
    const { notBefore, notAfter } = leaf
    const known = this.#newest[kind].get(node)
    if (!known || known.notBefore <= notBefore) this.#newest[kind].set(node, { notBefore, notAfter })
  }

  /** The Node was deleted. */
  forget(node: string): void {
    for (const kind of certificateKinds) this.#newest[kind].delete(node)
  }

  /** Of the nodes that there are. `now` in milliseconds since the epoch. */
  numbers(nodes: ReadonlySet<string>, now: number): Record<CertificateKind, CertificateNumbers> {
    return { client: this.#count('client', nodes, now), serving: this.#count('serving', nodes, now) }
  }

  #count(kind: CertificateKind, nodes: ReadonlySet<string>, now: number): CertificateNumbers {
    const newest = this.#newest[kind]
    for (const [name, { notAfter }] of newest)
      if (!nodes.has(name) && now - notAfter > forgetAfter) newest.delete(name)
    const states = { valid: 0, overdue: 0, expired: 0, not_yet_valid: 0, unknown: 0 }
    let earliestExpiry: number | undefined
    for (const name of nodes) {
      const validity = newest.get(name)
      states[stateOf(validity, now)]++
      if (validity && !(earliestExpiry !== undefined && earliestExpiry <= validity.notAfter))
        earliestExpiry = validity.notAfter
    }
    return { states, earliestExpiry }
  }
}

function stateOf(validity: Validity | undefined, now: number): CertificateState {
  if (!validity) return 'unknown'
  const { notBefore, notAfter } = validity
  if (now > notAfter) return 'expired'
  if (notBefore - now > toleratedSkew) return 'not_yet_valid'
  const life = notAfter - notBefore
  const overdueAt = notBefore + latestDeadline * life + Math.max(shortestSlack, slackOfLife * life)
  return now > overdueAt ? 'overdue' : 'valid'
}
