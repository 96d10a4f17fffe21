/** Milliseconds between two failed attempts in the long run (K-36). */
export const longestBackoff = 32_000

/**
 * Milliseconds after a certificate that had lapsed by our clock on arrival: while that clock is wrong, every attempt
 * costs the cluster a request, an approval and a signature.
 */
export const clockSuspectPause = 300_000

/**
 * Milliseconds to wait after the `failures`-th failure in a row (from 1): 2, 4, 8, 16 s, each stretched by up to a
 * tenth by `chance` in [0, 1), then 32 s for ever (K-36).
 */
export function backoffAfter(failures: number, chance: number): number {
  return failures < 5 ? Math.round(1000 * 2 ** failures * (1 + chance / 10)) : longestBackoff
}
