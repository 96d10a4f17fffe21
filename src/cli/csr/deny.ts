import type { Command } from 'commander'
import { getRequest } from '../../doctor/requests/find-request.ts'
import { reviewRequest } from '../../doctor/requests/review.ts'
import { writeCondition } from '../../doctor/requests/write-condition.ts'
import { RollcallError } from '../../errors.ts'
import { decideDenial } from '../../survey/operator-approval.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'
import { formatReview } from './show.ts'

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('deny')
    .argument('<names...>', 'the requests, each by its name')
    .description('deny requests for good')
    .requiredOption('--reason <text>', 'why, kept in the condition')
  addConnectionOptions(command).action(
    async (names: string[], flags: ConnectionFlags & { reason: string }) => {
      await withApi(io, flags, async ({ client }) => {
        for (const name of names) {
          const request = await getRequest(client, name)
          io.stderr(formatReview(await reviewRequest(client, request), io.clock.now()))
          let verb = 'was already denied'
          await writeCondition(client, request, io.clock.now(), csr => {
            const decision = decideDenial(csr, flags.reason)
            if (decision.outcome === 'already') return undefined
            if (decision.outcome === 'refuse') {
              throw new RollcallError('APPROVAL_REFUSED', `not denied: ${name}: ${decision.why}`, { name })
            }
            verb = 'denied'
            return { type: 'Denied', reason: 'DeniedByOperator', message: decision.message }
          })
          io.stdout(`${printable(name)} ${verb}\n`)
        }
      })
    },
  )
}
