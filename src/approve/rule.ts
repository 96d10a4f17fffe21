import type { Objection } from './verdict.ts'

export type RequestKind = 'client' | 'serving'

/** One rule: one sentence, one file, one test table. Returns what stands against approval, or undefined. */
export interface Rule<F> {
  /** Stable; shown by `csr explain`. */
  name: string
  sentence: string
  /** Absent: for both kinds. */
  only?: RequestKind
  check(facts: F): Objection | undefined
}

/** An objection that a new request alone can lift. */
export function deny(code: Objection['code'], message: string): Objection {
  return { outcome: 'Deny', code, message }
}

/** Waits until `until` (milliseconds since the epoch) for what may become right; from then on it is a denial. */
export function waitOrDeny(now: number, until: number, code: Objection['code'], message: string): Objection {
  return now < until ? { outcome: 'Wait', until, code, message } : deny(code, message)
}
