/** 3.7: a rotation that nobody has begun begins by itself, while there is time to end it before the old CA does. */
import { leavesAreShortened, type PastRuns, schedule } from './expiry.ts'
import type { AuthorityFacts } from './observations.ts'
import type { Timings } from './policy.ts'

export interface DueFacts {
  /** The CA that signs. */
  active: Pick<AuthorityFacts, 'notBefore' | 'notAfter'>
  timings: Timings
  past?: PastRuns
  /** Life of the longest leaf that it signs, in milliseconds. */
  leafLife: number
  /** Milliseconds since the epoch. */
  now: number
}

export type DueReason = 'LatestStart' | 'LeavesShortened'

/** Why a rotation has to begin now; undefined: it has not. */
export function whyDue({ active, timings, past, leafLife, now }: DueFacts): DueReason | undefined {
  if (now >= schedule(active, timings, past).latestStart) return 'LatestStart'
  // Leaves that end with their CA are all renewed in its last days, each time for less.
  return leavesAreShortened(active, leafLife, now) ? 'LeavesShortened' : undefined
}
