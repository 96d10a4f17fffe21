/** A whole decision log beside the heads that others keep. */
import type { AuditEntry } from './audit-entry.ts'
import { checkHeads } from './check-heads.ts'
import type { SignedHead } from './signed-head.ts'
import { type ChainReport, type LogFile, verifyChain } from './verify-chain.ts'

export interface LogReport {
  report: ChainReport
  /** What disagrees with the published heads. */
  problems: readonly string[]
  /** The newest head that is of this log's chain and holds. */
  head?: SignedHead
}

/** `pinned`: SHA-256 of the only key that is trusted, hexadecimal. */
export function verifyAgainst(
  files: readonly LogFile[],
  heads: readonly SignedHead[],
  pinned?: string,
  each?: (entry: AuditEntry) => void,
): LogReport {
  const published = new Set(heads.map(({ seq }) => seq))
  const hashes = new Map<number, string>()
  let oldest: number | undefined
  const report = verifyChain(files, (entry, hash) => {
    oldest ??= entry.seq
    // Of a million entries only those that a head names are needed.
    if (published.has(entry.seq)) hashes.set(entry.seq, hash)
    each?.(entry)
  })
  // Of a log that has nothing it is not known which chain it was.
  if (!report.position || report.broken) return { report, problems: [] }
  return { report, ...checkHeads(heads, report.position, seq => hashes.get(seq), oldest ?? 1, pinned) }
}
