import type { Clock } from '../ports.ts'

export interface ManualClock extends Clock {
  /** Moves time on by `milliseconds` and runs the timers that come due, in order, each after the work before it. */
  advance(milliseconds: number): Promise<void>
  /** Moves only the wall clock, as an administrator or NTP does; timers and `monotonic` do not notice. */
  step(milliseconds: number): void
  /** Timers that wait; a test that stops everything it started sees 0. */
  pending(): number
}

/** A clock that stands still until told otherwise. `start` is wall-clock time in milliseconds since the epoch. */
export function createManualClock(start: number): ManualClock {
  let elapsed = 0
  let offset = start
  let sequence = 0
  const timers = new Map<number, { due: number; run: () => void }>()

  const next = () => {
    let first: { id: number; due: number; run: () => void } | undefined
    for (const [id, timer] of timers) if (!first || timer.due < first.due) first = { id, ...timer }
    return first
  }

  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    after(milliseconds, run) {
      const id = sequence++
      timers.set(id, { due: elapsed + Math.max(0, milliseconds), run })
      return { cancel: () => void timers.delete(id) }
    },
    async advance(milliseconds) {
      const end = elapsed + milliseconds
      await settle()
      for (let timer = next(); timer && timer.due <= end; timer = next()) {
        timers.delete(timer.id)
        elapsed = Math.max(elapsed, timer.due)
        timer.run()
        await settle()
      }
      elapsed = end
    },
    step(milliseconds) {
      offset += milliseconds
    },
    pending: () => timers.size,
  }
}

/** Resolves when all promise callbacks have run that need no timer and no I/O. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
