import type { AuditEntry } from './audit-entry.ts'

export interface EntryFilter {
  /** Canonical name or address. */
  san?: string
  node?: string
  /** Name or UID. */
  request?: string
  /** Milliseconds since the epoch. */
  since?: number
}

/** Whether a decision is what was asked for; a `start` is only where nothing but a time was asked for. */
export function matches(entry: AuditEntry, { san, node, request, since }: EntryFilter): boolean {
  if (since !== undefined && Date.parse(entry.time) < since) return false
  if (entry.kind === 'start') return san === undefined && node === undefined && request === undefined
  if (san !== undefined && !entry.sans.some(({ name }) => name === san)) return false
  if (node !== undefined && entry.node !== node) return false
  return request === undefined || entry.request.name === request || entry.request.uid === request
}
