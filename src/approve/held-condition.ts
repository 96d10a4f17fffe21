/**
 * What a request that waits for a person carries: conditions of our own. They are written to /approval, which takes the
 * `approve` right on the signer, so no requester can set or lift them; Kubernetes itself heeds only its own types (ADR 7).
 */
import { csrCondition, isApproved, isDenied } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest, CsrCondition } from '../kube/types.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { Verdict } from './verdict.ts'

/** `reason` and `message` are the verdict's. */
export const heldCondition = 'rollcall.dev/Held'
/** Two different people have to approve it. */
export const fourEyesCondition = 'rollcall.dev/FourEyes'
/** One of two has approved it: `message` is `NAME until TIME: REASON`. */
export const firstApprovalCondition = 'rollcall.dev/FirstApproval'

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
