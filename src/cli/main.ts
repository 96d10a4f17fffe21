import { Command, CommanderError } from 'commander'
import { errorKinds, RollcallError } from '../errors.ts'
import type { CommandIo } from './command-io.ts'
import { systemIo } from './system-io.ts'
import { version } from './version.ts'

/** One file a command; each is loaded only when it is asked for, so that `up` does not pay for the others. */
const commands: Readonly<Record<string, () => Promise<{ register(program: Command, io: CommandIo): void }>>> =
  {
    up: () => import('./up.ts'),
    server: () => import('./server.ts'),
    controller: () => import('./controller.ts'),
    agent: () => import('./agent.ts'),
    demo: () => import('./demo.ts'),
    status: () => import('./status.ts'),
    nodes: () => import('./nodes.ts'),
    pods: () => import('./pods.ts'),
    csr: () => import('./csr/csr.ts'),
    certs: () => import('./certs.ts'),
    doctor: () => import('./doctor.ts'),
    token: () => import('./token.ts'),
    'fleet-process': () => import('./fleet-process.ts'),
  }

async function buildProgram(asked: string | undefined): Promise<Command> {
  const program = new Command('rollcall')
  program
    .description('Runs the whole life of the certificates that Kubernetes nodes hold.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: systemIo.stdout, writeErr: systemIo.stderr })
    .showHelpAfterError('(rollcall --help, or rollcall COMMAND --help, shows what there is)')
  const only = asked === undefined ? undefined : commands[asked]
  const modules = await Promise.all(only ? [only()] : Object.values(commands).map(load => load()))
  for (const module of modules) module.register(program, systemIo)
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
    systemIo.stderr(`rollcall: ${error.message}\n`)
    return errorKinds[error.code].exit ?? 1
  }
  // A broken promise of our own code: the stack is what its report needs.
  systemIo.stderr(`rollcall: ${error instanceof Error ? error.stack : String(error)}\n`)
  return 1
}

try {
  const program = await buildProgram(process.argv[2])
  await program.parseAsync(process.argv)
} catch (error) {
  process.exitCode = report(error)
}
