/**
 * Conditions of our own on a request that waits for a person. They are written to /approval, which takes the `approve`
 * right on the signer, so no requester can set or lift them; Kubernetes itself heeds only its own types (A-5, ADR 7).
 */
import { csrCondition } from './csr-conditions.ts'
import type { CertificateSigningRequest } from './types.ts'

/** `reason` and `message` say what it is held for. */
export const heldCondition = 'rollcall.dev/Held'
/** Two different people have to approve it. */
export const fourEyesCondition = 'rollcall.dev/FourEyes'
/** One of two has approved it; the message is what `firstApprovalMessage` writes. */
export const firstApprovalCondition = 'rollcall.dev/FirstApproval'

export interface FirstApproval {
  /** As the API server knows him. */
  by: string
  /** Milliseconds since the epoch; then it counts for nothing. */
  until: number
  reason: string
}

/** What every first approval of this user begins with. */
export const firstApprovalOpening = (by: string) => `${JSON.stringify(by)} until `

export function firstApprovalMessage({ by, until, reason }: FirstApproval): string {
  return `${firstApprovalOpening(by)}${new Date(until).toISOString()}: ${reason}`
}

/** The first approval that the request carries, whether it has lapsed or not; undefined also for one that nobody can read. */
export function firstApprovalOf(csr: CertificateSigningRequest): FirstApproval | undefined {
  const { message = '' } = csrCondition(csr, firstApprovalCondition) ?? {}
  const [, quoted, time = '', reason = ''] = /^("(?:[^"\\]|\\.)*") until (\S+): (.*)$/s.exec(message) ?? []
  const by = quoted === undefined ? undefined : unquoted(quoted)
  const until = Date.parse(time)
  return by === undefined || Number.isNaN(until) ? undefined : { by, until, reason }
}

/** Elsewhere than in the embedded API anybody with the right to approve may have written it. */
function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}
