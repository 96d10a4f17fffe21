import { ApiStatusError } from '../kube/api-status.ts'
import { type Clock, sleep } from '../ports.ts'

/** Milliseconds before each further attempt: the kubelet's webhook backoff, 500 ms × 1.5, five attempts in all (H-2). */
const pauses = [500, 750, 1125, 1688]

/** Statuses that may be others a moment later. */
const passing = [429, 500, 504]

/** Asks the API, and again when it failed in itself; a refusal, or no connection at all, is final, as for a kubelet. */
export async function askAgain<T>(clock: Clock, ask: () => Promise<T>): Promise<T> {
  for (const pause of pauses) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ApiStatusError) || !passing.includes(error.status.code)) throw error
      await sleep(clock, pause)
    }
  }
  return ask()
}
