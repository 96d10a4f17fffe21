import { appendFile } from 'node:fs/promises'
import type { AuditSink } from '../apiserver/audit/audit-event.ts'
import type { Log } from '../ports.ts'

export interface AuditLog {
  sink: AuditSink
  /** Resolves when everything handed in is written. */
  close(): Promise<void>
}

/** Most bytes that wait for a disk that does not take them; beyond that lines are dropped and the drop is logged. */
const MOST_WAITING = 8 * 1024 * 1024

/** Appends lines to the file (0600) in batches, in order, without holding up the requests they are about. */
export function openAuditLog(path: string, log: Log): AuditLog {
  let waiting: string[] = []
  let bytes = 0
  let dropped = 0
  let writing: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.join('')
      waiting = []
      bytes = 0
      try {
        await appendFile(path, batch, { mode: 0o600 })
        if (dropped > 0) log.warn('audit lines were dropped', { path, dropped })
        dropped = 0
      } catch (error) {
        log.error('the audit log cannot be written', { path, error: String(error) })
      }
    }
    writing = undefined
  }

  return {
    sink(line) {
      if (bytes + line.length > MOST_WAITING) {
        dropped += 1
        return
      }
      waiting.push(line)
      bytes += line.length
      writing ??= drain()
    },
    close: async () => {
      await writing
    },
  }
}
