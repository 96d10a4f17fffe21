import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { wholeNumber } from '../number-option.ts'
import { addOutputOption, type OutputFormat } from '../output.ts'
import { printEntries } from './print-entries.ts'
import { addLogOption, entriesOf, type LogFlags, type LogReader, readLogs } from './read-logs.ts'

export function register(audit: Command, io: CommandIo, disk: LogReader): void {
  const command = audit
    .command('tail')
    .description('the latest entries (exit 3: the log is broken)')
    .option('-n, --lines <count>', 'how many', wholeNumber(1, 100_000), 20)
  addOutputOption(addLogOption(command)).action(
    async ({ output, lines, log }: LogFlags & { output: OutputFormat; lines: number }) => {
      const found = entriesOf(await readLogs({ log }, disk), () => true)
      printEntries(io, output, { ...found, entries: found.entries.slice(-lines) })
    },
  )
}
