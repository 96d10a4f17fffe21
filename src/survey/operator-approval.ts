/** May an operator's `csr approve` go through? Pure, so that the command only prints. */
import { csrCondition } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'

/** A name or address the request asks for, and what proves that it is the node's. */
export interface SanProof {
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
  sans: readonly SanProof[]
  acceptUnproven: boolean
  /** The operator's own words. */
  reason?: string
}

export type ApprovalDecision =
  | { outcome: 'write'; message: string }
  | { outcome: 'already' }
  | { outcome: 'refuse'; why: string }

/** An unproven SAN needs `acceptUnproven` and a reason; a wildcard, a broken request and a denial cannot be overruled. */
export function decideApproval(facts: ApprovalFacts): ApprovalDecision {
  const { csr, problem, sans, acceptUnproven, reason } = facts
  if (csrCondition(csr, 'Denied')) return refuse('it is already Denied, and a denial cannot be taken back')
  if (csrCondition(csr, 'Approved')) return { outcome: 'already' }
  if (problem) return refuse(problem)
  const wildcards = sans.filter(san => san.wildcard).map(san => san.shown)
  if (wildcards.length > 0) return refuse(`a wildcard is never approved for a node: ${wildcards.join(', ')}`)
  const unproven = sans.filter(san => !san.evidence).map(san => san.shown)
  if (unproven.length > 0 && !(acceptUnproven && reason)) {
    const how = 'if you know better, give --accept-unproven and --reason'
    return refuse(`nothing proves that the node has ${unproven.join(', ')}; ${how}`)
  }
  return { outcome: 'write', message: approvalMessage(reason, unproven) }
}

function refuse(why: string): ApprovalDecision {
  return { outcome: 'refuse', why }
}

function approvalMessage(reason: string | undefined, unproven: readonly string[]): string {
  const accepted = unproven.length > 0 ? ` Accepted without proof: ${unproven.join(', ')}.` : ''
  return `This CSR was approved by rollcall csr approve${reason ? `: ${reason}` : ''}.${accepted}`
}

/** The same for `csr deny`, which an approval stands against. */
export function decideDenial(csr: CertificateSigningRequest, reason: string): ApprovalDecision {
  if (csrCondition(csr, 'Approved'))
    return refuse('it is already Approved, and an approval cannot be taken back')
  if (csrCondition(csr, 'Denied')) return { outcome: 'already' }
  return { outcome: 'write', message: `This CSR was denied by rollcall csr deny: ${reason}.` }
}
