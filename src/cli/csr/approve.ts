import type { Command } from 'commander'
import { getRequest } from '../../doctor/requests/find-request.ts'
import { reviewRequest } from '../../doctor/requests/review.ts'
import { whoAmI } from '../../doctor/requests/who-am-i.ts'
import { writeCondition } from '../../doctor/requests/write-condition.ts'
import { RollcallError } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { firstApprovalCondition } from '../../kube/held-conditions.ts'
import { type ApprovalDecision, decideApproval } from '../../survey/operator-approval.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { wholeNumber } from '../number-option.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'
import { formatReview } from './show.ts'

interface ApproveFlags extends ConnectionFlags {
  acceptUnproven?: boolean
  reason?: string
  valid: number
}

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('approve')
    // Each by its name: approving whatever is pending is how foreign names get certified.
    .argument('<names...>', 'the requests, each by its name')
    .description('approve requests whose names the Node is known to have')
    .option('--accept-unproven', 'approve names that nothing proves; needs --reason')
    .option('--reason <text>', 'why, kept in the condition; what is held needs one')
    .option(
      '--valid <minutes>',
      'how long the first of two approvals counts, where two people have to approve',
      wholeNumber(1, 1440),
      60,
    )
  addConnectionOptions(command).action(async (names: string[], flags: ApproveFlags) => {
    if (flags.acceptUnproven && !flags.reason) {
      throw new RollcallError('USAGE', '--accept-unproven needs --reason, so that others learn why')
    }
    const refused = await withApi(io, flags, async ({ client }) => {
      const refusals: string[] = []
      const approver = await whoAmI(client)
      for (const name of names) {
        const why = await approve(client, name, { ...flags, ...(approver !== undefined && { approver }) }, io)
        if (why) refusals.push(`${name}: ${why}`)
      }
      return refusals
    })
    if (refused.length > 0) {
      throw new RollcallError('APPROVAL_REFUSED', `not approved: ${printable(refused.join('; '))}`, { names })
    }
  })
}

/** The sentence why not, or undefined when it is approved. */
async function approve(
  client: KubeClient,
  name: string,
  flags: ApproveFlags & { approver?: string },
  io: CommandIo,
): Promise<string | undefined> {
  const review = await reviewRequest(client, await getRequest(client, name))
  io.stderr(formatReview(review, io.clock.now()))
  const now = io.clock.now()
  let decision: ApprovalDecision = { outcome: 'already' }
  await writeCondition(client, review.csr, now, csr => {
    decision = decideApproval({
      csr,
      ...(review.problem && { problem: review.problem }),
      claims: review.claims,
      acceptUnproven: flags.acceptUnproven ?? false,
      ...(flags.reason && { reason: flags.reason }),
      ...(flags.approver !== undefined && { approver: flags.approver }),
      now,
      validFor: flags.valid * 60_000,
    })
    if (decision.outcome !== 'write' && decision.outcome !== 'first') return undefined
    const type = decision.outcome === 'write' ? 'Approved' : firstApprovalCondition
    return { type, reason: 'ApprovedByOperator', message: decision.message }
  })
  return told(name, decision, io)
}

function told(name: string, decision: ApprovalDecision, io: CommandIo): string | undefined {
  if (decision.outcome === 'refuse') return decision.why
  const said = {
    write: 'approved',
    first: 'approved by one of two people: somebody else has to approve it too',
    already: 'was already approved',
  }[decision.outcome]
  io.stdout(`${printable(name)} ${said}\n`)
  return undefined
}
