import { Command } from 'commander'
import type { CommandIo } from '../cli/command-io.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports.ts'

export interface CommandRun {
  stdout: string
  stderr: string
  /** What the command set; a command that fails throws instead. */
  exitCode: number
}

/** Runs one command as the program would, e.g. `csr ls --node a`, against an API at hand. */
export async function runCommand(
  register: (program: Command, io: CommandIo) => void | Promise<void>,
  client: KubeClient,
  clock: Clock,
  ...words: string[]
): Promise<CommandRun> {
  const run: CommandRun = { stdout: '', stderr: '', exitCode: 0 }
  const io: CommandIo = {
    stdout: text => {
      run.stdout += text
    },
    stderr: text => {
      run.stderr += text
    },
    clock,
    isTerminal: false,
    connect: async () => ({ client, server: 'https://cluster.example:6443', close() {} }),
    exitWith: code => {
      run.exitCode = code
    },
  }
  const program = new Command('rollcall')
    .exitOverride()
    .configureOutput({ writeErr: io.stderr, writeOut: io.stdout })
  await register(program, io)
  await program.parseAsync(words, { from: 'user' })
  return run
}
