import type { Command } from 'commander'
import type { CommandIo } from './command-io.ts'
import { register as registerCreate } from './token-create.ts'
import { register as registerLs } from './token-ls.ts'
import { register as registerRm } from './token-rm.ts'

export function register(program: Command, io: CommandIo): void {
  const token = program
    .command('token')
    .description('make, list and remove the bootstrap tokens that nodes join with')
  registerCreate(token, io)
  registerLs(token, io)
  registerRm(token, io)
}
