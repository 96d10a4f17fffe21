import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { type CommandModules, registerAsked } from '../commands.ts'

/** `ls` is asked often, and `explain` has the whole approver with it. */
const subcommands: CommandModules = {
  ls: () => import('./ls.ts'),
  show: () => import('./show.ts'),
  approve: () => import('./approve.ts'),
  deny: () => import('./deny.ts'),
  explain: () => import('./explain.ts'),
  watch: () => import('./watch.ts'),
}

export async function registerFor(program: Command, io: CommandIo, words: readonly string[]): Promise<void> {
  const csr = program.command('csr').description('see, decide and explain certificate signing requests')
  await registerAsked(subcommands, csr, io, words)
}

export const register = (program: Command, io: CommandIo): Promise<void> => registerFor(program, io, [])
