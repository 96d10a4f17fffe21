import type { Command } from 'commander'
import { canonicalAddress } from '../../approve/canonical-name.ts'
import { RollcallError } from '../../errors.ts'
import { matches } from '../../survey/audit/matches.ts'
import type { CommandIo } from '../command-io.ts'
import { addOutputOption, type OutputFormat } from '../output.ts'
import { printEntries } from './print-entries.ts'
import { addLogOption, entriesOf, type LogFlags, type LogReader, readLogs } from './read-logs.ts'

interface FindFlags extends LogFlags {
  output: OutputFormat
  san?: string
  node?: string
  request?: string
}

export function register(audit: Command, io: CommandIo, disk: LogReader): void {
  const command = audit
    .command('find')
    .description('what was decided about a name or address, a node or a request (exit 3: the log is broken)')
    .option('--san <name>', 'a DNS name or IP address, in any spelling')
    .option('--node <name>', 'the node that the subject names')
    .option('--request <name>', 'name or UID of the request')
  addOutputOption(addLogOption(command)).action(async ({ output, san, node, request, log }: FindFlags) => {
    if (san === undefined && node === undefined && request === undefined)
      throw new RollcallError(
        'USAGE',
        'give --san, --node or --request; rollcall audit tail shows the latest',
      )
    const filter = {
      ...(san !== undefined && { san: canonicalAddress(san).text }),
      ...(node !== undefined && { node }),
      ...(request !== undefined && { request }),
    }
    printEntries(
      io,
      output,
      entriesOf(await readLogs({ log }, disk), entry => matches(entry, filter)),
    )
  })
}
