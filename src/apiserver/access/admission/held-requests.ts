/** deploy/admission/four-eyes.yaml, always in force here. */
import { fourEyesMessages } from '../../../kube/admission/four-eyes.ts'
import { csrCondition } from '../../../kube/csr-conditions.ts'
import {
  firstApprovalCondition,
  firstApprovalOf,
  firstApprovalOpening,
  fourEyesCondition,
  heldCondition,
} from '../../../kube/held-conditions.ts'
import { type CertificateSigningRequest, signerNames } from '../../../kube/types.ts'
import type { AdmissionRequest } from '../access.ts'
import { refuse } from './refuse.ts'

const kubelets: readonly string[] = [signerNames.kubeletServing, signerNames.kubeletClient]

/**
 * On updates of `/approval`, at `now` (milliseconds since the epoch): a first approval that has lapsed counts for nothing,
 * which the admission policy cannot know. Throws ApiError 403.
 */
export function guardHeld(request: AdmissionRequest, now: number): void {
  if (request.operation !== 'UPDATE' || request.subresource !== 'approval') return
  const why = refusal(
    request.user.username,
    request.oldObject as CertificateSigningRequest,
    request.object as CertificateSigningRequest,
    now,
  )
  if (why !== undefined) throw refuse(request, fourEyesMessages[why])
}

function refusal(
  me: string,
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
  now: number,
): keyof typeof fourEyesMessages | undefined {
  const held = [heldCondition, fourEyesCondition].filter(type => csrCondition(before, type))
  if (held.some(type => !csrCondition(after, type))) return 'stays'
  const [first, earlier] = [after, before].map(csr => csrCondition(csr, firstApprovalCondition)?.message)
  const isMine = (message: string | undefined) => message?.startsWith(firstApprovalOpening(me)) ?? false
  if (first !== undefined && first !== earlier && !isMine(first)) return 'own'
  const approves = csrCondition(after, 'Approved') && !csrCondition(before, 'Approved')
  if (!approves) return undefined
  if (before.spec.username === me && kubelets.includes(before.spec.signerName)) return 'requester'
  const counts = (firstApprovalOf(before)?.until ?? 0) > now && !isMine(earlier)
  return held.includes(fourEyesCondition) && !counts ? 'two' : undefined
}
