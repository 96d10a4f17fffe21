import { Command, CommanderError } from 'commander'
import { errorKinds, RollcallError } from '../errors.ts'
import { registerCommands } from './commands.ts'
import { printable } from './printable.ts'
import { systemIo } from './system-io.ts'
import { version } from './version.ts'

async function buildProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('rollcall')
  program
    .description('Runs the whole life of the certificates that Kubernetes nodes hold.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: systemIo.stdout, writeErr: systemIo.stderr })
    .showHelpAfterError('(rollcall --help, or rollcall COMMAND --help, shows what there is)')
  if (words[0] !== '--version') await registerCommands(program, systemIo, words)
  // exitOverride is not inherited by commands that were added by others.
  const inherit = (command: Command) => {
    command.exitOverride()
    for (const child of command.commands) inherit(child)
  }
  inherit(program)
  return program
}

/** The exit code of a command that threw: 2 for a command line that cannot be understood, else what the error table says. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof RollcallError) {
    // A message may hold what somebody else wrote: a file, an object, an answer of the API.
    systemIo.stderr(`rollcall: ${error.message.split('\n').map(printable).join('\n')}\n`)
    return errorKinds[error.code].exit ?? 1
  }
  // A broken promise of our own code: the stack is what its report needs.
  systemIo.stderr(`rollcall: ${error instanceof Error ? error.stack : String(error)}\n`)
  return 1
}

try {
  const program = await buildProgram(process.argv.slice(2))
  await program.parseAsync(process.argv)
} catch (error) {
  process.exitCode = report(error)
}
