/** deploy/admission/four-eyes.yaml, always in force here. */
import { fourEyesMessages } from '../../../kube/admission/four-eyes.ts'
import { csrCondition } from '../../../kube/csr-conditions.ts'
import {
  firstApprovalCondition,
  firstApprovalOpening,
  fourEyesCondition,
  heldCondition,
} from '../../../kube/held-conditions.ts'
import type { CertificateSigningRequest } from '../../../kube/types.ts'
import type { AdmissionRequest } from '../access.ts'
import { refuse } from './refuse.ts'

/** On updates of `/approval`. Throws ApiError 403. */
export function guardHeld(request: AdmissionRequest): void {
  if (request.operation !== 'UPDATE' || request.subresource !== 'approval') return
  const why = refusal(
    request.user.username,
    request.oldObject as CertificateSigningRequest,
    request.object as CertificateSigningRequest,
  )
  if (why !== undefined) throw refuse(request, fourEyesMessages[why])
}

function refusal(
  me: string,
  before: CertificateSigningRequest,
  after: CertificateSigningRequest,
): keyof typeof fourEyesMessages | undefined {
  const held = [heldCondition, fourEyesCondition].filter(type => csrCondition(before, type))
  if (held.some(type => !csrCondition(after, type))) return 'stays'
  const [first, earlier] = [after, before].map(csr => csrCondition(csr, firstApprovalCondition)?.message)
  const isMine = (message: string | undefined) => message?.startsWith(firstApprovalOpening(me)) ?? false
  if (first !== undefined && first !== earlier && !isMine(first)) return 'own'
  const approves = csrCondition(after, 'Approved') && !csrCondition(before, 'Approved')
  if (!approves || held.length === 0) return undefined
  if (before.spec.username === me) return 'requester'
  const alone = held.includes(fourEyesCondition) && (earlier === undefined || isMine(earlier))
  return alone ? 'two' : undefined
}
