import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { register as registerApprove } from './approve.ts'
import { register as registerDeny } from './deny.ts'
import { register as registerExplain } from './explain.ts'
import { register as registerLs } from './ls.ts'
import { register as registerShow } from './show.ts'
import { register as registerWatch } from './watch.ts'

export function register(program: Command, io: CommandIo): void {
  const csr = program.command('csr').description('see, decide and explain certificate signing requests')
  const all = [registerLs, registerShow, registerApprove, registerDeny, registerExplain, registerWatch]
  for (const subcommand of all) subcommand(csr, io)
}
