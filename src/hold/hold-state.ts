import type { CertificateTemplate } from '../join/template.ts'
import type { Certificate } from '../x509/certificate.ts'
import { serialDecimal } from '../x509/serial-number.ts'
import { isPremature } from './arrival.ts'
import { backoffAfter, pauseForClock } from './backoff.ts'
import { isSince } from './renewal-order.ts'
import { rotationDeadline, type Validity } from './rotation-deadline.ts'
import { lackOf } from './satisfies-template.ts'

/**
 * Why a certificate is asked for:
 * - `initial`: there is none
 * - `renewal`: the deadline has come
 * - `template`: the one held lacks something that is wanted now
 * - `expired`: the one held has lapsed
 * - `rejected`: the API answered 401 to the one held
 * - `premature`: the one held begins only in some time
 */
export type RequestCause = 'initial' | 'renewal' | 'template' | 'expired' | 'rejected' | 'premature'

/** The two clocks, in milliseconds: validity is judged by the wall clock, waiting by the one that never goes back. */
export interface Now {
  wall: number
  monotonic: number
}

export interface Held extends Validity {
  leaf: Certificate
  /** Serial number in decimal, as kubectl prints it. */
  serial: string
  /** When to renew, milliseconds since the epoch. */
  deadline: number
  /** What it lacks of the wanted template, in words. */
  lack?: string
  /** The API answered 401 to it. */
  rejected: boolean
}

/** No attempt for `cause` before `notEarlier` (monotonic milliseconds). */
export interface Retry {
  cause: RequestCause
  /** Failures in a row, from 1. */
  failures: number
  notEarlier: number
  /** A clock is wrong; nothing else that changes makes the next attempt succeed. */
  forClock?: true
}

/** Everything that nextStep decides on; the functions below are its only transitions. */
export interface HoldState {
  /** What is wanted. Absent: nothing yet (a serving certificate before the node is registered). */
  template?: CertificateTemplate
  /** The certificate in force, lapsed or not. */
  held?: Held
  /** Requests cannot be made now: there is nobody to make them as. */
  unable?: true
  /** The attempt under way. */
  attempt?: { cause: RequestCause; template: CertificateTemplate }
  retry?: Retry
  /** When the last attempt started, monotonic milliseconds. */
  lastStart?: number
  /** Certificates rejected in a row, none of which the API ever accepted. */
  rejections: number
  /** A certificate is in memory only; when to try again to write it, monotonic milliseconds. */
  unsavedUntil?: number
}

export const emptyHoldState: HoldState = { rejections: 0 }

/** `chance` in [0, 1) for the deadline; `obtainedAt` where the certificate was issued just now. */
export function holding(
  state: HoldState,
  leaf: Certificate,
  chance: number,
  obtainedAt: number | undefined,
): HoldState {
  const { notBefore, notAfter } = leaf
  const held: Held = {
    leaf,
    serial: serialDecimal(leaf.serialNumber),
    notBefore,
    notAfter,
    deadline: rotationDeadline(leaf, chance, obtainedAt),
    rejected: false,
  }
  return { ...state, held: withLack(held, state.template) }
}

function withLack(held: Held, template: CertificateTemplate | undefined): Held {
  const { lack: _, ...rest } = held
  const lack = template && lackOf(held.leaf, template)
  return lack === undefined ? rest : { ...rest, lack }
}

/** Another template is wanted; the backoff belongs to what was wanted before. */
export function wanting(state: HoldState, template: CertificateTemplate | undefined): HoldState {
  const { template: _, retry, ...rest } = state
  return {
    ...rest,
    ...(template && { template }),
    ...(state.held && { held: withLack(state.held, template) }),
    ...(retry && retry.cause !== 'template' && { retry }),
  }
}

export function started(
  state: HoldState,
  cause: RequestCause,
  template: CertificateTemplate,
  now: Now,
): HoldState {
  return { ...state, attempt: { cause, template }, lastStart: now.monotonic }
}

/** The attempt is over, with nothing learnt from it. */
export function ended(state: HoldState): HoldState {
  const { attempt: _, ...rest } = state
  return rest
}

/** The attempt failed; the next one for the same cause waits longer. */
export function failed(state: HoldState, cause: RequestCause, chance: number, now: Now): HoldState {
  const failures = failuresWith(state, cause)
  const notEarlier = now.monotonic + backoffAfter(failures, chance)
  return { ...ended(state), retry: { cause, failures, notEarlier } }
}

/** The attempt gave a certificate whose times do not fit the clock here. */
export function doubted(state: HoldState, cause: RequestCause, chance: number, now: Now): HoldState {
  const failures = failuresWith(state, cause)
  const left = (state.held?.notAfter ?? now.wall) - now.wall
  const pause = Math.max(pauseForClock(cause, failures, left), backoffAfter(failures, chance))
  const retry: Retry = { cause, failures, notEarlier: now.monotonic + pause, forClock: true }
  return { ...ended(state), retry }
}

const failuresWith = ({ retry }: HoldState, cause: RequestCause) =>
  retry?.cause === cause ? retry.failures + 1 : 1

/**
 * The attempt gave a certificate. One that still lacks what was asked for (the signer changed the request) is better
 * than none, but counts as a failure: K-33 would ask for another every second.
 */
export function installed(
  state: HoldState,
  leaf: Certificate,
  chances: { deadline: number; backoff: number },
  now: Now,
): HoldState {
  const next = holding(ended(state), leaf, chances.deadline, now.wall)
  if (next.held?.lack !== undefined) return failed(next, 'template', chances.backoff, now)
  // The next one would hardly begin sooner.
  if (isPremature(leaf, now.wall)) return doubted(next, 'premature', chances.backoff, now)
  const { retry: _, ...rest } = next
  return rest
}

/**
 * The API answered 401 to the certificate held. The first time it is replaced at once; when the new ones are rejected
 * too, the backoff grows.
 */
export function rejected(state: HoldState, serial: string, chance: number, now: Now): HoldState {
  const { held } = state
  if (!held || held.rejected || held.serial !== serial) return state
  const next: HoldState = {
    ...state,
    held: { ...held, rejected: true },
    rejections: state.rejections + 1,
  }
  if (state.rejections === 0) return next
  const notEarlier = now.monotonic + backoffAfter(state.rejections, chance)
  return { ...next, retry: { cause: 'rejected', failures: state.rejections, notEarlier } }
}

/** The API accepted the certificate held: an earlier 401 has passed. */
export function accepted(state: HoldState, serial: string): HoldState {
  const { held } = state
  if (held?.serial !== serial || (state.rejections === 0 && !held.rejected)) return state
  return { ...state, held: { ...held, rejected: false }, rejections: 0 }
}

/** Due for renewal at once, unless the CA with this key identifier (hexadecimal) issued it: a rollover of the CA. */
export function dueUnlessFrom(state: HoldState, issuer: string, wall: number): HoldState {
  const { held } = state
  const from = Buffer.from(held?.leaf.authorityKeyIdentifier ?? []).toString('hex')
  if (!held || from === issuer || held.deadline <= wall) return state
  return { ...state, held: { ...held, deadline: wall } }
}

/** Due now, unless what is held was issued after that. Both in milliseconds since the epoch. */
export function dueUnlessSince(state: HoldState, since: number, wall: number): HoldState {
  const { held } = state
  if (!held || isSince(held.notBefore, since) || held.deadline <= wall) return state
  return { ...state, held: { ...held, deadline: wall } }
}

/** Forgets the backoff: what made attempts fail has changed, but for a clock. */
export function undelayed(state: HoldState): HoldState {
  const { retry, ...rest } = state
  return retry?.forClock ? state : rest
}

/** Requests can be made from now on, and those that failed may succeed; or they cannot. */
export function enabled(state: HoldState, able: boolean): HoldState {
  const { unable: _, ...rest } = state
  return able ? undelayed(rest) : { ...rest, unable: true }
}

/** The certificate held is not on the disk; the next try to write it is at `until` (monotonic), undefined: it is saved. */
export function unsaved(state: HoldState, until: number | undefined): HoldState {
  const { unsavedUntil: _, ...rest } = state
  return until === undefined ? rest : { ...rest, unsavedUntil: until }
}
