/**
 * What judgement says about one request. DENY only what cannot become right without a new request: a denied kubelet
 * asks again every 32 s, a pending one every 15 min. WAIT for what may become right.
 */
import type { ReasonCode } from './reason-codes.ts'

// Part of what a verdict is.
export type { ReasonCode } from './reason-codes.ts'

/**
 * Approve, Deny: written as a condition. Ignore: not ours to decide. Wait: pending until a Node changes or `until`.
 * Retry: pending, asked again with backoff. Hold: pending until a human or a policy decides.
 */
export type Outcome = 'Approve' | 'Deny' | 'Ignore' | 'Wait' | 'Retry' | 'Hold'

export interface Reason {
  code: ReasonCode
  /** Which value, which source, what to do. */
  message: string
}

/** What stands against approval. */
export interface Objection extends Reason {
  outcome: Exclude<Outcome, 'Approve'>
  /** For Wait: milliseconds since the epoch at which waiting ends in a denial. */
  until?: number
  /** Other nodes whose change may lift it. */
  nodes?: readonly string[]
}

export interface RuleOutcome {
  readonly rule: string
  readonly sentence: string
  /** NotReached: an earlier rule decided. */
  readonly outcome: 'Pass' | 'NotApplicable' | 'NotReached' | Exclude<Outcome, 'Approve'>
}

export interface Verdict {
  outcome: Outcome
  until?: number
  /** For Wait: other nodes whose change may lift what it waits for. */
  nodes?: readonly string[]
  /** First the deciding one; after it, warnings. */
  reasons: Reason[]
  /** Every rule in order, for `csr explain`. */
  rules: RuleOutcome[]
}
