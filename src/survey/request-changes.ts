/** What a change of a request means to somebody who watches. */
import { csrCondition, isApproved, isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import { firstApprovalCondition, heldCondition } from '../kube/held-conditions.ts'
import type { ChangeType } from '../kube/object-cache.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { nodeOfRequest } from './request-facts.ts'

export type RequestStep =
  | 'created'
  | 'held'
  | 'first approval'
  | 'approved'
  | 'denied'
  | 'issued'
  | 'failed'
  | 'deleted'

export interface RequestChange {
  step: RequestStep
  request: string
  signer: string
  node?: string
  requester: string
  /** `REASON: MESSAGE` of the condition that came. */
  reason?: string
}

/** The steps between two states of a request, in the order in which they are taken. */
export function changesOf(
  type: ChangeType,
  csr: CertificateSigningRequest,
  before: CertificateSigningRequest | undefined,
): RequestChange[] {
  const node = nodeOfRequest(csr)
  const change = (step: RequestStep, condition?: string): RequestChange => {
    const { reason = '', message = '' } = (condition && csrCondition(csr, condition)) || {}
    return {
      step,
      request: csr.metadata.name,
      signer: csr.spec.signerName,
      ...(node !== undefined && { node }),
      requester: csr.spec.username ?? '',
      ...(condition && { reason: [reason, message].filter(Boolean).join(': ') }),
    }
  }
  if (type === 'DELETED') return [change('deleted')]
  const came = (is: (csr: CertificateSigningRequest) => boolean) => is(csr) && !(before && is(before))
  const cameCondition = (condition: string) => came(found => csrCondition(found, condition) !== undefined)
  return [
    ...(before ? [] : [change('created')]),
    ...(cameCondition(heldCondition) ? [change('held', heldCondition)] : []),
    ...(cameCondition(firstApprovalCondition) ? [change('first approval', firstApprovalCondition)] : []),
    ...(came(isApproved) ? [change('approved', 'Approved')] : []),
    ...(came(isDenied) ? [change('denied', 'Denied')] : []),
    ...(came(isFailed) ? [change('failed', 'Failed')] : []),
    ...(came(isIssued) ? [change('issued')] : []),
  ]
}
