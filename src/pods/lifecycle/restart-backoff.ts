/** Milliseconds. */
export interface RestartBackoff {
  /** Before the second restart in a row; the first one comes at once. */
  first: number
  most: number
  /** A run that lasted longer ends the row. */
  calm: number
}

/** The kubelet's: at once, then 10 s doubling to 300 s, forgotten after a run of 600 s. */
export const kubeletBackoff: RestartBackoff = { first: 10_000, most: 300_000, calm: 600_000 }

/** Restarts in a row that a run after this one would be the end of. `ran`: how long this one lasted, milliseconds. */
export function crashesAfter(crashes: number, ran: number, backoff: RestartBackoff): number {
  return ran > backoff.calm ? 1 : crashes + 1
}

/** Milliseconds between the end of a run and the `crashes`-th restart in a row (from 1). */
export function restartDelay(crashes: number, { first, most }: RestartBackoff): number {
  return crashes <= 1 ? 0 : Math.min(most, first * 2 ** (crashes - 2))
}
