import { clockComplaint } from './arrival.ts'
import type { HoldState, RequestCause } from './hold-state.ts'
import { isLapsed } from './next-step.ts'

/** `Pending`: none yet. `Rejected`: the API answered 401 to it. */
export type CertificateState = 'Pending' | 'Valid' | 'NotYetValid' | 'Expired' | 'Rejected'

export interface CertificateStatus {
  state: CertificateState
  /** Of the certificate held, lapsed or not; milliseconds since the epoch. */
  notBefore?: number
  notAfter?: number
  /** When it is renewed, milliseconds since the epoch. */
  deadline?: number
  /** Decimal, as kubectl prints it. */
  serial?: string
  /** An attempt is under way, for this reason. */
  requesting?: RequestCause
  /** Failed attempts in a row. */
  failures: number
  /** The last trouble; absent when the last attempt succeeded. */
  lastError?: string
}

/** How a certificate stands at `wall` (milliseconds since the epoch); `trouble`: the last that is not over. */
export function certificateStatus(
  state: HoldState,
  wall: number,
  trouble: string | undefined,
): CertificateStatus {
  const { held, attempt, retry } = state
  const now = stateOf(state, wall)
  const lastError = trouble ?? (held && now === 'NotYetValid' ? clockComplaint(held, wall) : undefined)
  return {
    state: now,
    ...(held && {
      notBefore: held.notBefore,
      notAfter: held.notAfter,
      deadline: held.deadline,
      serial: held.serial,
    }),
    ...(attempt && { requesting: attempt.cause }),
    failures: retry?.failures ?? 0,
    ...(lastError !== undefined && { lastError }),
  }
}

function stateOf({ held }: HoldState, wall: number): CertificateState {
  if (!held) return 'Pending'
  if (isLapsed(held, wall)) return 'Expired'
  if (held.rejected) return 'Rejected'
  return wall < held.notBefore ? 'NotYetValid' : 'Valid'
}
