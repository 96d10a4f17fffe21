import type { RequestCause } from './hold-state.ts'

/** Milliseconds between two failed attempts in the long run (K-36). */
export const longestBackoff = 32_000

/**
 * Milliseconds after a certificate that was useless on arrival, as a clock is wrong: until it is set, every attempt
 * costs the cluster a request, an approval and a signature.
 */
const clockSuspectPause = 300_000
/** Milliseconds; while a certificate is held that is good for its holder at least, and the pause grows. */
const longestClockSuspectPause = 1_800_000

/**
 * Milliseconds to wait after the `failures`-th certificate in a row (from 1) that was useless on arrival. One that is to
 * be renewed is not left to lapse for it: `left` are the milliseconds for which it is still valid. Whole milliseconds, as timers know no others.
 */
export function pauseForClock(cause: RequestCause, failures: number, left: number): number {
  if (cause === 'renewal') return Math.min(clockSuspectPause, Math.max(0, Math.floor(0.8 * left)))
  if (cause !== 'premature') return clockSuspectPause
  return Math.min(clockSuspectPause * 2 ** (failures - 1), longestClockSuspectPause)
}

/**
 * Milliseconds to wait after the `failures`-th failure in a row (from 1): 2, 4, 8, 16 s, each stretched by up to a
 * tenth by `chance` in [0, 1), then 32 s for ever (K-36).
 */
export function backoffAfter(failures: number, chance: number): number {
  return failures < 5 ? Math.round(1000 * 2 ** failures * (1 + chance / 10)) : longestBackoff
}
