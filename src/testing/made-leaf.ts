import { signerNames } from '../kube/types.ts'
import type { LedgerEntry } from '../sign/ledger.ts'

/** What a signer records: a serving certificate of node `a` that ends at `notAfter`, milliseconds since the epoch. */
export function madeLeaf(notAfter: number, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    serialNumber: '0b5e1f',
    issuer: 'CN=kubernetes',
    issuerFingerprint: 'c'.repeat(64),
    signerName: signerNames.kubeletServing,
    holder: 'system:node:a',
    dnsNames: ['a'],
    ipAddresses: ['10.0.0.1'],
    notBefore: notAfter - 3_600_000,
    notAfter,
    publicKeyHash: 'd'.repeat(64),
    fingerprint: 'e'.repeat(64),
    request: { name: 'csr-1', uid: 'u' },
    subject: 'CN=system:node:a,O=system:nodes',
    certificate: '',
    ...changes,
  }
}
