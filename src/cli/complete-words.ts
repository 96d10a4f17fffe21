import { Command } from 'commander'
import type { CommandIo } from './command-io.ts'
import { registerCommands } from './commands.ts'
import { completions } from './completions.ts'

/** Hidden: what the scripts of `rollcall completion` and kubectl's own completion ask. */
export function register(program: Command, io: CommandIo): void {
  program
    .command('complete-words', { hidden: true })
    .description('prints what may stand where the last word is typed, a line each: word, tab, description')
    .option('--cobra', 'end with the directive that kubectl expects of a plugin')
    .argument('[words...]', 'the words after rollcall; the last one is being typed')
    .action(async (words: string[], { cobra }: { cobra?: boolean }) => {
      const all = new Command('rollcall')
      await registerCommands(all, io, words.slice(0, -1))
      for (const { word, description } of completions(all, words)) io.stdout(`${word}\t${description}\n`)
      // 4: cobra's ShellCompDirectiveNoFileComp.
      if (cobra) io.stdout(':4\n')
    })
}
