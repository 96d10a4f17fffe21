/**
 * A sequence is requests that are drawn before any is sent. What an earlier answer gave stands in them as `$(rv3)`,
 * `$(uid3)`, `$(next3)`, `$(name3)`, `$(token3)`: of the answer to step 3 of the same server.
 */
import type { Identity } from '../wire.ts'

export interface SequenceStep {
  as?: Identity
  method: string
  url: string
  headers?: Record<string, string>
  /** As it is sent, but for the values of earlier answers. */
  body?: string
  /** Sent only where an earlier answer gave this value, e.g. `next7`. */
  needs?: string
  /** A watch: read until an event is about the object of this name. */
  until?: string
}

export interface Sequence {
  /** Of this sequence alone; part of the names of all that it makes. */
  id: string
  steps: SequenceStep[]
}
