/** What is kept of every certificate that was ever signed: written before the requester can see it, so none is unknown. */
export interface LedgerEntry {
  /** Hexadecimal, lower case, without leading zeros beyond whole bytes. */
  serialNumber: string
  /** SHA-256 of the leaf's DER, hexadecimal. */
  fingerprint: string
  /** SHA-256 of the issuing CA's DER, hexadecimal. */
  issuerFingerprint: string
  signerName: string
  /** metadata of the CertificateSigningRequest. */
  request: { name: string; uid: string }
  /** As Go prints it, e.g. `CN=system:node:worker-1,O=system:nodes`. */
  subject: string
  /** Milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  /** The leaf, PEM. */
  certificate: string
}

export interface Ledger {
  /** Resolves when the entry is durable; a rejection keeps the certificate from being handed out. */
  record(leaf: LedgerEntry): Promise<void>
}

/** Keeps nothing: for whoever needs no inventory of leaves. */
export const noLedger: Ledger = { record: async () => {} }
