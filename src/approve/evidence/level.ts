/** How well a name or address is known to be a node's. */
import type { PolicyEvidence } from '../../kube/rollcall/certificate-policy/spec.ts'

/**
 * Weakest first. LiveCertificate: the node's certificate names it already, which proves what was true then (K1: never
 * enough). NodeStatus: the node says so itself. ProtectedNodeStatus: the Node says so, and the node cannot write that.
 * Inventory: somebody says so whom the node cannot talk for.
 */
const levels = ['LiveCertificate', 'NodeStatus', 'ProtectedNodeStatus', 'Inventory'] as const
export type EvidenceLevel = (typeof levels)[number]

/** What a policy may ask for. */
export type RequiredEvidence = PolicyEvidence

/** 1 for the weakest level; no evidence at all is 0. */
export function strengthOf(level: EvidenceLevel): number {
  return levels.indexOf(level) + 1
}

/** A node's own metadata.name: the API server vouches for it, and no two Nodes share one. */
export const ownNameStrength = levels.length + 1

/** The stricter of several. */
export function strictest(required: readonly RequiredEvidence[]): RequiredEvidence | undefined {
  return required.toSorted((a, b) => strengthOf(b) - strengthOf(a))[0]
}
