import { csrCondition, isApproved, isDenied } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { Reason, Verdict } from './verdict.ts'

/** What to tell about a decision that was made elsewhere; `judged`: the verdict here. Undefined: none was made. */
export function foreignDecision(
  csr: CertificateSigningRequest,
  judged: Verdict | undefined,
): { type: 'Normal' | 'Warning'; reason: Reason } | undefined {
  if (!isApproved(csr) && !isDenied(csr)) return undefined
  const made = isDenied(csr) ? 'Denied' : 'Approved'
  const { reason = 'no reason' } = csrCondition(csr, made) ?? {}
  const opposite = judged?.outcome === (made === 'Approved' ? 'Deny' : 'Approve')
  const [first] = judged?.reasons ?? []
  const here =
    judged && first ? `; the verdict here is ${judged.outcome} ${first.code}: ${first.message}` : ''
  const message = `${made} by another approver (${reason})${here}`
  return { type: opposite ? 'Warning' : 'Normal', reason: { code: 'ForeignDecision', message } }
}
