import type { Command } from 'commander'
import { gatherCsrFacts } from '../../doctor/requests/gather-facts.ts'
import { RollcallError } from '../../errors.ts'
import { explainCsr } from '../../survey/explain-csr.ts'
import { type Explanation, exitCodeOf } from '../../survey/explanation.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { alignColumns } from '../table.ts'
import { withApi } from '../with-api.ts'
import { exitCodeOfFile, explainFile, type FileFlags, formatFileExplanation } from './explain-file.ts'

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('explain')
    .argument('[name]', 'a request of the cluster')
    .option(
      '-f, --file <file>',
      'a request that is not made yet: PEM, or a CertificateSigningRequest; no cluster is asked',
    )
    .option('--node <file...>', 'for -f: its Node, and others')
    .option('--policy <file>', 'for -f: the policy to judge by')
    .option('--inventory <file>', 'for -f: the inventory that the policy names')
    .description(
      'say who waits for whom with a request, and what to do (exit 3: found something, 4: could not look everywhere)',
    )
  addOutputOption(addConnectionOptions(command)).action(
    async (name: string | undefined, flags: ExplainFlags) => {
      const { file } = flags
      if ((name === undefined) === (file === undefined))
        throw new RollcallError('USAGE', 'give the name of a request, or -f FILE.')
      if (name === undefined || file !== undefined) return explainOffline(io, { ...flags, file: file ?? '' })
      const facts = await withApi(io, flags, ({ client }) => gatherCsrFacts(client, name, io.clock.now()))
      const explanation = explainCsr(facts)
      print(io, flags.output, { text: () => formatExplanation(explanation), value: explanation })
      io.exitWith(exitCodeOf(explanation))
    },
  )
}

interface ExplainFlags extends ConnectionFlags, Partial<FileFlags> {
  output: OutputFormat
}

async function explainOffline(io: CommandIo, flags: FileFlags & { output: OutputFormat }): Promise<void> {
  const now = io.clock.now()
  const explanation = await explainFile(flags, now)
  const { review, ...value } = explanation
  const claims = { claims: review.claims, nodeAddresses: review.node?.status?.addresses }
  print(io, flags.output, {
    text: () => formatFileExplanation(explanation, now),
    value: { ...claims, ...value },
  })
  io.exitWith(exitCodeOfFile(explanation))
}

function formatExplanation({
  request,
  state,
  code,
  summary,
  waitsFor,
  evidence,
  commands,
  unchecked,
}: Explanation): string {
  const head = alignColumns(
    [
      [request, code && code !== state ? `${state} (${code})` : state],
      ['', summary],
      ...(waitsFor ? [['waits for', waitsFor]] : []),
      ...evidence.map(({ fact, source }, n) => [n === 0 ? 'evidence' : '', `${fact}   [${source}]`]),
      ...unchecked.map((what, n) => [n === 0 ? 'unchecked' : '', what]),
    ].map(line => line.map(printable)),
  )
  const paste = commands.map(({ run, purpose }) => `  ${printable(run)}\n      ${purpose}\n`).join('')
  return head + (paste ? `to do\n${paste}` : '')
}
