/** What a request that waits for a person carries, so that everybody sees it. */
import { csrCondition, isApproved, isDenied } from '../kube/csr-conditions.ts'
import { fourEyesCondition, heldCondition } from '../kube/held-conditions.ts'
import type { CertificateSigningRequest, CsrCondition } from '../kube/types.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { Verdict } from './verdict.ts'

type Held = Pick<CsrCondition, 'type' | 'status' | 'reason' | 'message'>

/** The conditions to add so that the request says that it is held, or undefined: it says so already, or is not held. */
export function holding(
  csr: CertificateSigningRequest,
  { outcome, reasons: [first] }: Pick<Verdict, 'outcome' | 'reasons'>,
  policy: ApprovalPolicy | undefined,
): CsrCondition[] | undefined {
  // Without a policy nobody asked for a person: that all requests wait is said once in the log.
  if (outcome !== 'Hold' || !first || !policy || isApproved(csr) || isDenied(csr)) return undefined
  const wanted: Held[] = [
    { type: heldCondition, status: 'True', reason: first.code, message: first.message },
    ...(policy.approvers === 2 ? [fourEyes] : []),
  ]
  const missing = wanted.filter(({ type, reason, message }) => {
    const found = csrCondition(csr, type)
    return found?.reason !== reason || found?.message !== message
  })
  if (missing.length === 0) return undefined
  const types = wanted.map(({ type }) => type)
  const others = (csr.status?.conditions ?? []).filter(({ type }) => !types.includes(type))
  return [...others, ...wanted]
}

const fourEyes: Held = {
  type: fourEyesCondition,
  status: 'True',
  reason: 'PolicyWantsTwo',
  message: 'two different people have to approve it, neither of them who asked',
}

/** One that was held for two people stays so, whatever the policy says by now: the next request is judged by that. */
export function stillHeld(verdict: Verdict, csr: CertificateSigningRequest): Verdict {
  const fourEyes = csrCondition(csr, fourEyesCondition)
  if (verdict.outcome !== 'Approve' || !fourEyes) return verdict
  const message = `it was held for two people (${fourEyes.message})`
  return { ...verdict, outcome: 'Hold', reasons: [{ code: 'ManualApproval', message }, ...verdict.reasons] }
}
