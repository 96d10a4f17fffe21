import type { Command } from 'commander'
import { RollcallError } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { decideApproval } from '../../survey/operator-approval.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'
import { getRequest } from './requests.ts'
import { reviewRequest } from './review.ts'
import { formatReview } from './show.ts'
import { writeCondition } from './write-condition.ts'

interface ApproveFlags extends ConnectionFlags {
  acceptUnproven?: boolean
  reason?: string
}

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('approve')
    // Each by its name: approving whatever is pending is how foreign names get certified.
    .argument('<names...>', 'the requests, each by its name')
    .description('approve requests whose names the Node is known to have')
    .option('--accept-unproven', 'approve names that nothing proves; needs --reason')
    .option('--reason <text>', 'why, kept in the condition')
  addConnectionOptions(command).action(async (names: string[], flags: ApproveFlags) => {
    if (flags.acceptUnproven && !flags.reason) {
      throw new RollcallError('USAGE', '--accept-unproven needs --reason, so that others learn why')
    }
    const refused = await withApi(io, flags, async ({ client }) => {
      const refusals: string[] = []
      for (const name of names) {
        const why = await approve(client, name, flags, io)
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
  flags: ApproveFlags,
  io: CommandIo,
): Promise<string | undefined> {
  const review = await reviewRequest(client, await getRequest(client, name))
  io.stderr(formatReview(review, io.clock.now()))
  let outcome = { written: false, why: undefined as string | undefined }
  await writeCondition(client, review.csr, io.clock.now(), csr => {
    const decision = decideApproval({
      csr,
      ...(review.problem && { problem: review.problem }),
      claims: review.claims,
      acceptUnproven: flags.acceptUnproven ?? false,
      ...(flags.reason && { reason: flags.reason }),
    })
    outcome = {
      written: decision.outcome === 'write',
      why: decision.outcome === 'refuse' ? decision.why : undefined,
    }
    if (decision.outcome !== 'write') return undefined
    return { type: 'Approved', reason: 'ApprovedByOperator', message: decision.message }
  })
  if (!outcome.why) io.stdout(`${printable(name)} ${outcome.written ? 'approved' : 'was already approved'}\n`)
  return outcome.why
}
