import { getRequest } from '../../doctor/requests/find-request.ts'
import { reviewRequest } from '../../doctor/requests/review.ts'
import { writeCondition } from '../../doctor/requests/write-condition.ts'
import { firstApprovalCondition } from '../../kube/held-conditions.ts'
import { type ApprovalDecision, decideApproval, decideDenial } from '../../survey/operator-approval.ts'
import type { Viewer } from '../access/viewer.ts'

export interface Order {
  verdict: 'approve' | 'deny'
  /** Of the request that was looked at: another may have taken its name since. */
  uid: string
  reason: string
  /** Of an approval: names that nothing proves are accepted. */
  acceptUnproven: boolean
}

/** Milliseconds for which the first of two approvals counts; as `csr approve`. */
const firstApprovalLife = 3_600_000

/** As `csr approve` and `csr deny` decide, in the viewer's name. Undefined: another request has this name now. */
export async function decideRequest(
  viewer: Viewer & { username: string },
  name: string,
  { verdict, uid, reason, acceptUnproven }: Order,
  now: number,
): Promise<ApprovalDecision | undefined> {
  const { client, username } = viewer
  const review = await reviewRequest(client, await getRequest(client, name))
  const { csr, claims, problem } = review
  if (csr.metadata.uid !== uid) return undefined
  let decision: ApprovalDecision = { outcome: 'already' }
  await writeCondition(client, csr, now, current => {
    decision =
      verdict === 'deny'
        ? decideDenial(current, reason)
        : decideApproval({
            csr: current,
            ...(problem && { problem }),
            claims,
            acceptUnproven,
            ...(reason && { reason }),
            approver: username,
            now,
            validFor: firstApprovalLife,
          })
    if (decision.outcome !== 'write' && decision.outcome !== 'first') return undefined
    const { message } = decision
    if (verdict === 'deny') return { type: 'Denied', reason: 'DeniedByOperator', message }
    const type = decision.outcome === 'write' ? 'Approved' : firstApprovalCondition
    return { type, reason: 'ApprovedByOperator', message }
  })
  return decision
}

/** The order in a request's body, or the sentence why it is none. */
export function readOrder(verdict: Order['verdict'], body: unknown): Order | string {
  const { uid, reason = '', acceptUnproven = false } = body as Partial<Record<keyof Order, unknown>>
  if (typeof uid !== 'string' || uid === '') return 'uid must say which request was looked at'
  if (typeof reason !== 'string' || reason.length > longestReason)
    return `reason must be a text of at most ${longestReason} characters`
  if (typeof acceptUnproven !== 'boolean') return 'acceptUnproven must be true or false'
  const said = reason.trim()
  if (verdict === 'deny' && said === '') return 'a denial needs a reason'
  if (acceptUnproven && said === '')
    return 'accepting what nothing proves needs a reason, so that others learn why'
  return { verdict, uid, reason: said, acceptUnproven }
}

const longestReason = 500
