import type { Command, Option } from 'commander'

/** What may stand where a word is typed, and what it is for. */
export interface Candidate {
  word: string
  description: string
}

/**
 * The candidates for the last of `words`, the word being typed (may be empty): what stands after `rollcall` on the
 * command line. Names of objects are not among them: completing a word asks no cluster.
 */
export function completions(program: Command, words: readonly string[]): Candidate[] {
  const typed = words.at(-1) ?? ''
  const { command, awaitsValue } = walk(program, words.slice(0, -1))
  if (awaitsValue) return choicesOf(awaitsValue).filter(({ word }) => word.startsWith(typed))
  const candidates = typed.startsWith('-') ? optionsOf(command) : commandsOf(command)
  return candidates.filter(({ word }) => word.startsWith(typed))
}

/** Goes down from command to command; an option that takes a value takes the word after it. */
function walk(program: Command, words: readonly string[]): { command: Command; awaitsValue?: Option } {
  let command = program
  let awaitsValue: Option | undefined
  for (const word of words) {
    if (awaitsValue) {
      awaitsValue = undefined
      continue
    }
    const option = command.options.find(({ long, short }) => word === long || word === short)
    if (option && (option.required || option.optional)) awaitsValue = option
    command =
      command.commands.find(child => child.name() === word || child.aliases().includes(word)) ?? command
  }
  return awaitsValue ? { command, awaitsValue } : { command }
}

function choicesOf(option: Option): Candidate[] {
  return (option.argChoices ?? []).map(word => ({ word, description: '' }))
}

function optionsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ word: long ?? short ?? '', description }))
}

function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map(child => ({ word: child.name(), description: child.summary() || child.description() }))
}
