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

/** Milliseconds for which lines are gathered before they are written together. */
const GATHER = 50

/** Appends lines to the file (0600) in batches, in order, without holding up the requests they are about. */
export function openAuditLog(path: string, log: Log): AuditLog {
  let waiting: string[] = []
  let bytes = 0
  let dropped = 0
  let writing: Promise<void> | undefined
  let closing = false
  let hurry = () => {}

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // Opened by its name each time, so that a file that was moved away (logrotate) is followed by a new one; gathered
      // first, since that costs more than a line does.
      if (!closing) await gathered()
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

  function gathered(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, GATHER)
      hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
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
      closing = true
      hurry()
      await writing
    },
  }
}
