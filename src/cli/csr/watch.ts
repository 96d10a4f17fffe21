import { type Command, Option } from 'commander'
import { hostPorts } from '../../cluster/host-ports.ts'
import { startReflector } from '../../kube/reflector.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'
import { changesOf, type RequestChange } from '../../survey/request-changes.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { printable } from '../printable.ts'
import { untilStopped } from '../until-stopped.ts'
import { withApi } from '../with-api.ts'
import { signerShown } from './requests.ts'

interface WatchFlags extends ConnectionFlags {
  node?: string
  output: 'text' | 'json'
}

/** `stopped`: tells when to end; for a test. */
export function register(csr: Command, io: CommandIo, stopped: () => Promise<unknown> = untilStopped): void {
  const command = csr
    .command('watch')
    .description('one line for each step of a request, as it happens, until Ctrl-C')
    .option('--node <name>', 'only of this node')
    .addOption(
      new Option('-o, --output <format>', 'text, or one JSON object a line')
        .choices(['text', 'json'])
        .default('text'),
    )
  addConnectionOptions(command).action((flags: WatchFlags) =>
    withApi(io, flags, async ({ client }) => {
      const requests = startReflector<CertificateSigningRequest>({
        client,
        clock: io.clock,
        random: hostPorts.random,
        log: {
          info() {},
          warn: message => io.stderr(`${printable(message)}\n`),
          error: message => io.stderr(`${printable(message)}\n`),
        },
        resource: resources.certificateSigningRequests,
        onChange(type, request, previous) {
          // What was there before is no change.
          if (!requests.hasSynced()) return
          for (const change of changesOf(type, request, previous))
            if (flags.node === undefined || change.node === flags.node)
              io.stdout(lineOf(change, io.clock.now(), flags.output))
        },
      })
      await stopped()
      await requests.stop()
    }),
  )
}

function lineOf(change: RequestChange, now: number, output: WatchFlags['output']): string {
  const time = formatTime(now)
  if (output === 'json') return `${JSON.stringify({ time, ...change })}\n`
  const { step, request, signer, node, requester, reason } = change
  const who = node === undefined ? `by ${requester}` : `node ${node}`
  const words = [time, request, step, signerShown(signer), who, ...(reason ? [reason] : [])]
  return `${printable(words.join('  '))}\n`
}
