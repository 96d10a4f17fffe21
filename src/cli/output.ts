import { type Command, Option } from 'commander'
import { stringify } from 'yaml'
import type { CommandIo } from './command-io.ts'

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml'

/** Adds `-o, --output`. */
export function addOutputOption(command: Command): Command {
  const option = new Option('-o, --output <format>', 'how to print').choices([
    'table',
    'wide',
    'json',
    'yaml',
  ])
  return command.addOption(option.default('table'))
}

export interface Printed {
  /** Read by people; may change with any version. */
  text(wide: boolean): string
  /** Read by machines. */
  value: unknown
}

export function print(io: CommandIo, format: OutputFormat, { text, value }: Printed): void {
  if (format === 'json') io.stdout(`${JSON.stringify(value, null, 2)}\n`)
  else if (format === 'yaml') io.stdout(stringify(value, { lineWidth: 0 }))
  else io.stdout(text(format === 'wide'))
}
