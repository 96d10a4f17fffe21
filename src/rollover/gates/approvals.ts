import type { Plan } from '../plan.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/** APPROVED: as many people as the policy asks for, none of them the author. */
export function approvalsGate({ policy, wishes, author }: Plan): Gate {
  const others = new Set(wishes.approvals.filter(by => by !== author))
  const missing = Math.max(0, policy.approvals - others.size)
  const blockers = Array.from({ length: missing }, (): Blocker => {
    return {
      code: 'ApprovalMissing',
      about: 'approvals',
      message: 'a user other than the author must approve',
    }
  })
  return gate('APPROVED', policy.approvals, blockers)
}

/** CONFIRMED: somebody has seen who will be cut off, and wants it. */
export function confirmedGate({ wishes }: Plan, cutOff: Gate): Gate {
  if (wishes.confirmedBy !== undefined) return gate('CONFIRMED', 1, [])
  const message = `${cutOff.blockers.length} of ${cutOff.total} consumers will be cut off; confirm that you have seen who`
  return gate('CONFIRMED', 1, [{ code: 'ConfirmationNeeded', about: 'confirmation', message }])
}
