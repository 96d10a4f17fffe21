import type { Command } from 'commander'
import { explainCsr } from '../../survey/explain-csr.ts'
import { type Explanation, exitCodeOf } from '../../survey/explanation.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { alignColumns } from '../table.ts'
import { withApi } from '../with-api.ts'
import { gatherCsrFacts } from './gather-facts.ts'

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('explain')
    .argument('<name>')
    .description(
      'say who waits for whom with a request, and what to do (exit 3: found something, 4: could not look everywhere)',
    )
  addOutputOption(addConnectionOptions(command)).action(
    async (name: string, flags: ConnectionFlags & { output: OutputFormat }) => {
      const facts = await withApi(io, flags, ({ client }) => gatherCsrFacts(client, name, io.clock.now()))
      const explanation = explainCsr(facts)
      print(io, flags.output, { text: () => formatExplanation(explanation), value: explanation })
      io.exitWith(exitCodeOf(explanation))
    },
  )
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
      [request, state + (code ? ` (${code})` : '')],
      ['', summary],
      ...(waitsFor ? [['waits for', waitsFor]] : []),
      ...evidence.map(({ fact, source }, n) => [n === 0 ? 'evidence' : '', `${fact}   [${source}]`]),
      ...unchecked.map((what, n) => [n === 0 ? 'unchecked' : '', what]),
    ].map(line => line.map(printable)),
  )
  const paste = commands.map(({ run, purpose }) => `  ${printable(run)}\n      ${purpose}\n`).join('')
  return head + (paste ? `to do\n${paste}` : '')
}
