import { isDeepStrictEqual } from 'node:util'
import { isPremature } from './arrival.ts'
import type { HoldState, Now, RequestCause } from './hold-state.ts'
import type { Validity } from './rotation-deadline.ts'

export interface HoldRules {
  /** Renew before the certificate lapses; false leaves it until it has lapsed. */
  renew: boolean
  /** The certificate held is itself the credential that asks for the next one (client certificates). */
  signsWithHeld: boolean
  /** Longest sleep in milliseconds, after which the wall clock is looked at again: it may have jumped. */
  longestSleep: number
}

export type Step =
  | { do: 'request'; cause: RequestCause }
  | { do: 'cancel'; reason: string }
  | { do: 'save' }
  /** Until an event, or `milliseconds` at the longest; without them only an event can change anything. */
  | { do: 'sleep'; milliseconds?: number }

/** Milliseconds between the starts of two attempts, whatever happens: a template that flaps asks no faster. */
const shortestInterval = 1000

/** Whether the certificate may no longer be used: at notAfter itself it still is valid (K-31). */
export function isLapsed(validity: Validity, wall: number): boolean {
  return wall > validity.notAfter
}

/** Why a certificate has to be requested now, or undefined. */
function causeToRequest(state: HoldState, rules: HoldRules, wall: number): RequestCause | undefined {
  const { held } = state
  if (!held) return 'initial'
  if (isLapsed(held, wall)) return 'expired'
  if (held.rejected) return 'rejected'
  if (held.lack !== undefined) return 'template'
  if (rules.renew && wall >= held.deadline) return 'renewal'
  // The API itself judges whether a client certificate is valid, and answers 401. Of others we would not hear.
  return !rules.signsWithHeld && isPremature(held, wall) ? 'premature' : undefined
}

/**
 * What to do now. Never blocks and never gives up: a denied, failed or unanswered attempt leads to another one, a lapsed
 * or rejected certificate back to the bootstrap credential in the same process (better than K-38, K-52 and K-53).
 */
export function nextStep(state: HoldState, rules: HoldRules, now: Now): Step {
  if (state.unsavedUntil !== undefined && now.monotonic >= state.unsavedUntil) return { do: 'save' }
  const cause = state.template && causeToRequest(state, rules, now.wall)
  const reason = cancelReason(state, rules, cause)
  if (reason !== undefined) return { do: 'cancel', reason }
  if (state.attempt || state.unable || cause === undefined) return sleep(state, rules, now, undefined)
  const start = earliestStart(state, cause)
  return now.monotonic >= start ? { do: 'request', cause } : sleep(state, rules, now, start)
}

/** K-35, and beyond it: an attempt signed with a credential that has become useless is not waited for. */
function cancelReason(
  state: HoldState,
  rules: HoldRules,
  cause: RequestCause | undefined,
): string | undefined {
  const { attempt, template, held } = state
  if (!attempt || !template) return undefined
  const satisfied = held !== undefined && held.lack === undefined
  if (!satisfied && !isDeepStrictEqual(attempt.template, template)) return 'the wanted names changed'
  const usesHeld = rules.signsWithHeld && attempt.cause === 'renewal'
  if (usesHeld && cause === 'expired') return 'the certificate that signs the request has lapsed'
  if (usesHeld && cause === 'rejected') return 'the API rejected the certificate that signs the request'
  return undefined
}

/** Monotonic milliseconds. The backoff of one cause does not hold up another: a lapse is answered at once. */
function earliestStart(state: HoldState, cause: RequestCause): number {
  const spaced = state.lastStart === undefined ? -Infinity : state.lastStart + shortestInterval
  const backoff = state.retry?.cause === cause ? state.retry.notEarlier : -Infinity
  return Math.max(spaced, backoff)
}

function sleep(state: HoldState, rules: HoldRules, now: Now, start: number | undefined): Step {
  const waits: number[] = []
  if (start !== undefined) waits.push(start - now.monotonic)
  if (state.unsavedUntil !== undefined) waits.push(state.unsavedUntil - now.monotonic)
  if (state.held) {
    const { notBefore, notAfter, deadline } = state.held
    const moments = [notBefore, notAfter + 1, ...(rules.renew && !state.attempt ? [deadline] : [])]
    for (const moment of moments) if (moment > now.wall) waits.push(moment - now.wall)
    // A backwards jump lengthens the wait, a forward one must not be overslept.
    waits.push(rules.longestSleep)
  }
  const milliseconds = Math.min(...waits)
  return Number.isFinite(milliseconds) ? { do: 'sleep', milliseconds } : { do: 'sleep' }
}
