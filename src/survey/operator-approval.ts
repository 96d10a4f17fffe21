/** May an operator's `csr approve` go through? Pure, so that the command only prints. */
import { csrCondition } from '../kube/csr-conditions.ts'
import {
  firstApprovalMessage,
  firstApprovalOf,
  fourEyesCondition,
  heldCondition,
} from '../kube/held-conditions.ts'
import { formatTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../kube/types.ts'

/** What the request claims to be the node's, and what proves it. */
export interface Claim {
  /** E.g. `IP 10.0.0.7`. */
  shown: string
  /** E.g. `Node worker-1 status.addresses InternalIP`; absent: nothing proves it. */
  evidence?: string
  wildcard: boolean
}

export interface ApprovalFacts {
  csr: CertificateSigningRequest
  /** What keeps the request from being read or verified. */
  problem?: string
  claims: readonly Claim[]
  acceptUnproven: boolean
  /** The operator's own words. */
  reason?: string
  /** Who approves, as the API server knows him; absent: it does not say. */
  approver?: string
  /** Milliseconds since the epoch. */
  now: number
  /** Milliseconds for which the first of two approvals counts. */
  validFor: number
}

export type ApprovalDecision =
  | { outcome: 'write'; message: string }
  /** The first of two: to be written as a condition of that type. */
  | { outcome: 'first'; message: string }
  | { outcome: 'already' }
  | { outcome: 'refuse'; why: string }

/** Nobody approves his own request, a held one needs a reason, and where two have to approve they are two. An unproven claim needs `acceptUnproven` and a reason; a wildcard, a broken request and a denial cannot be overruled. */
export function decideApproval(facts: ApprovalFacts): ApprovalDecision {
  const { csr, problem, claims, acceptUnproven, reason } = facts
  if (csrCondition(csr, 'Denied')) return refuse('it is already Denied, and a denial cannot be taken back')
  if (csrCondition(csr, 'Approved')) return { outcome: 'already' }
  if (problem) return refuse(problem)
  const wildcards = claims.filter(claim => claim.wildcard).map(claim => claim.shown)
  if (wildcards.length > 0) return refuse(`a wildcard is never approved for a node: ${wildcards.join(', ')}`)
  const unproven = claims.filter(claim => !claim.evidence).map(claim => claim.shown)
  if (unproven.length > 0 && !(acceptUnproven && reason)) {
    const how = 'if you know better, give --accept-unproven and --reason'
    return refuse(`nothing proves ${unproven.join(', ')}; ${how}`)
  }
  const message = approvalMessage(reason, unproven)
  return betweenPeople(facts, message) ?? { outcome: 'write', message }
}

/** What a request that waits for people asks of them besides; undefined: nothing. */
function betweenPeople(facts: ApprovalFacts, message: string): ApprovalDecision | undefined {
  const { csr, reason, approver, now, validFor } = facts
  if (approver !== undefined && approver === csr.spec.username)
    return refuse(`${approver} made it: somebody else has to approve it`)
  const fourEyes = csrCondition(csr, fourEyesCondition)
  if (!reason && (fourEyes || csrCondition(csr, heldCondition))) return refuse('it is held: give --reason')
  if (!fourEyes) return undefined
  if (approver === undefined)
    return refuse('two people have to approve it, and the API does not say who you are (SelfSubjectReview)')
  const first = firstApprovalOf(csr)
  if (!first || first.until <= now)
    return {
      outcome: 'first',
      message: firstApprovalMessage({ by: approver, until: now + validFor, reason: reason ?? '' }),
    }
  if (first.by === approver)
    return refuse(
      `${approver} has approved it already: somebody else has to, until ${formatTime(first.until)}`,
    )
  return { outcome: 'write', message: `${message} First approved by ${first.by}: ${first.reason}.` }
}

function refuse(why: string): ApprovalDecision {
  return { outcome: 'refuse', why }
}

function approvalMessage(reason: string | undefined, unproven: readonly string[]): string {
  const accepted = unproven.length > 0 ? ` Accepted without proof: ${unproven.join(', ')}.` : ''
  return `This CSR was approved by rollcall csr approve${reason ? `: ${reason}` : ''}.${accepted}`
}

/** What `decideApproval` takes as a claim on an identity; undefined where the request claims none or may claim it. */
export function identityClaim(csr: CertificateSigningRequest, node: KubeNode | undefined): Claim | undefined {
  if (!node || csr.spec.signerName !== signerNames.kubeletClient) return undefined
  // Of a decided request the node may well be Ready: by that very certificate.
  if (csrCondition(csr, 'Approved') || csrCondition(csr, 'Denied')) return undefined
  const { name } = node.metadata
  if (csr.spec.username === `system:node:${name}`) return undefined
  // A bootstrap token may ask for any node's name. One whose node is down may be rejoining; one that works is not.
  const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
  if (!ready) return undefined
  return { shown: `the identity of node ${name}, which is Ready and did not ask itself`, wildcard: false }
}

/** The same for `csr deny`, which an approval stands against. */
export function decideDenial(csr: CertificateSigningRequest, reason: string): ApprovalDecision {
  if (csrCondition(csr, 'Approved'))
    return refuse('it is already Approved, and an approval cannot be taken back')
  if (csrCondition(csr, 'Denied')) return { outcome: 'already' }
  return { outcome: 'write', message: `This CSR was denied by rollcall csr deny: ${reason}.` }
}
