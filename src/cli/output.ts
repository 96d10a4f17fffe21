import { type Command, Option } from 'commander'
import { stringify } from 'yaml'
import type { CommandIo } from './command-io.ts'

const formats = ['table', 'wide', 'json', 'yaml'] as const
export type OutputFormat = (typeof formats)[number]
/** Of a list that people take into a spreadsheet. */
export type ListFormat = OutputFormat | 'csv'

/** Adds `-o, --output`. */
export function addOutputOption(command: Command): Command {
  return command.addOption(outputOption(formats))
}

/** Adds `-o, --output` with csv among the formats. */
export function addListOutputOption(command: Command): Command {
  return command.addOption(outputOption([...formats, 'csv']))
}

function outputOption(choices: readonly string[]): Option {
  return new Option('-o, --output <format>', 'how to print').choices(choices).default('table')
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
