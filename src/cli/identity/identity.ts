import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { register as registerApprove } from './approve.ts'
import { register as registerLs } from './ls.ts'
import { register as registerRevoke } from './revoke.ts'

export function register(program: Command, io: CommandIo): void {
  const identity = program
    .command('identity')
    .description('list, approve and revoke the machines that join by proving themselves')
  registerLs(identity, io)
  registerApprove(identity, io)
  registerRevoke(identity, io)
}
