import { appendFileSync } from 'node:fs'
import { systemClock } from '../host/clock.ts'
import type { Log } from '../ports.ts'

/** One JSON line an event, as log collectors want it; to stderr, or appended to a file (0600). */
export function lineLog(path?: string): Log {
  const write = (level: string, message: string, fields: Record<string, unknown> = {}) => {
    const line = `${JSON.stringify({ time: new Date(systemClock.now()).toISOString(), level, message, ...fields })}\n`
    if (path === undefined) process.stderr.write(line)
    else appendFileSync(path, line, { mode: 0o600 })
  }
  return {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  }
}
