/** How a ledger that is read through the API files a leaf: the same in a ConfigMap and in the served view. */
import { decodeLeaf, type Leaf } from './leaf.ts'

export interface LedgerReading {
  /** Also those that ended within the last day, or longer ago where nothing was written since. */
  leaves: Leaf[]
  /** Where lines stand that no ledger wrote, e.g. `ConfigMap kube-system/rollcall-ledger-0a, key x`. */
  unreadable: string[]
}

/** Serial numbers are unique to their CA only (RFC 5280 section 4.1.2.2). */
export const keyOf = ({
  serialNumber,
  issuerFingerprint,
}: Pick<Leaf, 'serialNumber' | 'issuerFingerprint'>) => `${serialNumber}.${issuerFingerprint.slice(0, 8)}`

/** The leaf in a line, undefined for one that no ledger wrote under this key. */
export function readLine(key: string, line: string): Leaf | undefined {
  const leaf = decodeLeaf(key.split('.', 1)[0] ?? '', line)
  return leaf && keyOf(leaf) === key ? leaf : undefined
}
