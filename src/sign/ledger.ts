import type { Leaf } from './leaf.ts'

/** What is recorded of every certificate that is signed: before the requester can see it, so none is unknown. */
export interface LedgerEntry extends Leaf {
  /** SHA-256 of the leaf's DER, hexadecimal. */
  fingerprint: string
  /** metadata of the CertificateSigningRequest. */
  request: { name: string; uid: string }
  /** As Go prints it, e.g. `CN=system:node:worker-1,O=system:nodes`. */
  subject: string
  /** The leaf, PEM. */
  certificate: string
}

export interface Ledger {
  /** Resolves when the entry is durable; a rejection keeps the certificate from being handed out. */
  record(leaf: LedgerEntry): Promise<void>
}

/** A ledger that remembers: across restarts, and after the requests were deleted. */
export interface LastingLedger extends Ledger {
  /**
   * Recorded leaves that have not ended yet. Each iteration reads anew. A leaf may be among them whose certificate was
   * never handed out, since it is recorded first.
   */
  readonly issued: AsyncIterable<Leaf>
}

/** Keeps nothing: for whoever needs no inventory of leaves. */
export const noLedger: Ledger = { record: async () => {} }
