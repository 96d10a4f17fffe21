/** What happened, each entry bound to the one before it, so that none can be changed or left out unseen. */
import { createHash } from 'node:crypto'

export interface HistoryEntry {
  sequence: number
  /** Milliseconds since the epoch. */
  at: number
  actor: string
  from: string
  to: string
  reason: string
  /** Gates as they were: `TRUST 9/9`. */
  evidence: readonly string[]
  /** Hash of the entry before; of the rotation's id for the first. */
  previous: string
  hash: string
}

export type NewEntry = Omit<HistoryEntry, 'previous' | 'hash'>

/** Newest entries that an object carries; older ones are told by Events and the audit log. */
const kept = 64

export function appended(history: readonly HistoryEntry[], id: string, entry: NewEntry): HistoryEntry[] {
  const previous = history.at(-1)?.hash ?? digest([id])
  return [...history, { ...entry, previous, hash: hashOf(entry, previous) }].slice(-kept)
}

/** The sequence of the first entry that is not what was written, or undefined. */
export function firstForged(history: readonly HistoryEntry[], id: string): number | undefined {
  let previous = history.length < kept ? digest([id]) : history[0]?.previous
  for (const entry of history) {
    if (entry.previous !== previous || entry.hash !== hashOf(entry, entry.previous)) return entry.sequence
    previous = entry.hash
  }
  return undefined
}

function hashOf({ sequence, at, actor, from, to, reason, evidence }: NewEntry, previous: string): string {
  return digest([previous, sequence, at, actor, from, to, reason, ...evidence])
}

function digest(fields: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex')
}
