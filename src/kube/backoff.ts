import type { Clock, Random } from '../ports.ts'

export interface BackoffOptions {
  /** Milliseconds of the first delay, before jitter. */
  first: number
  /** Milliseconds that a delay does not exceed, before jitter. */
  most: number
  /** A failure this many milliseconds after the last one starts again at `first`. */
  resetAfter: number
  clock: Clock
  random: Random
}

/** Doubling delays, each stretched by a random factor in [1, 2): client-go's exponential backoff manager. */
export function createBackoff({ first, most, resetAfter, clock, random }: BackoffOptions): {
  next(): number
} {
  let delay = first
  let last: number | undefined
  return {
    /** Milliseconds to wait after a failure that happened now. */
    next() {
      const now = clock.monotonic()
      if (last !== undefined && now - last > resetAfter) delay = first
      last = now
      const jittered = delay * (1 + random.float())
      delay = Math.min(delay * 2, most)
      return jittered
    },
  }
}
