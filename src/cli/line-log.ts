import { appendFileSync, writeSync } from 'node:fs'
import { systemCode } from '../errors.ts'
import { systemClock } from '../host/clock.ts'
import type { Log } from '../ports.ts'

type Fields = Record<string, unknown>

/**
 * One JSON line an event, as log collectors want it; to stderr, or appended to a file (0600). A file that cannot be
 * written, as on a full disk, ends nothing: it is said once on stderr, and the file tells later how many lines it misses.
 */
export function lineLog(
  path?: string,
  complain: (text: string) => void = text => process.stderr.write(text),
): Log {
  let lost = 0
  const append = (file: string, line: string) => {
    // What failed may have left a part of a line.
    const missing = lost > 0 ? `\n${lineOf('warn', 'lines of this log were lost', { lost })}` : ''
    try {
      appendFileSync(file, missing + line, { mode: 0o600 })
      lost = 0
    } catch (error) {
      if (lost === 0)
        complain(
          `rollcall: the log ${file} cannot be written (${systemCode(error) ?? error}); going on without it.\n`,
        )
      lost += 1
    }
  }
  const write = (level: string, message: string, fields?: Fields) => {
    const line = lineOf(level, message, fields)
    if (path === undefined) toStderr(line)
    else append(path, line)
  }
  return {
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
  }
}

/** Milliseconds. */
const together = 10

let waiting = ''
let flushed = Number.NEGATIVE_INFINITY
let isDue = false

/**
 * What is said at once is one write, and what follows within ten milliseconds another: a system call for each line costs as
 * much as half a signature, and wakes whoever reads.
 */
function toStderr(line: string): void {
  waiting += line
  if (isDue) return
  isDue = true
  setTimeout(flush, Math.max(0, flushed + together - systemClock.monotonic()))
}

function flush(): void {
  const lines = waiting
  waiting = ''
  isDue = false
  flushed = systemClock.monotonic()
  if (lines !== '') process.stderr.write(lines)
}

// Also what a process says that ends before that.
process.on('exit', () => {
  try {
    if (waiting !== '') writeSync(2, waiting)
  } catch {
    // Nobody reads it any more.
  }
})

function lineOf(level: string, message: string, fields: Fields = {}): string {
  return `${JSON.stringify({ time: new Date(systemClock.now()).toISOString(), level, message, ...fields })}\n`
}
