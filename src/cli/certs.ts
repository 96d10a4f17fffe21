import type { Command } from 'commander'
import { register as registerLs } from './certs-ls.ts'
import { register as registerShow } from './certs-show.ts'
import type { CommandIo } from './command-io.ts'

export function register(program: Command, io: CommandIo): void {
  const certs = program
    .command('certs')
    .description('see certificates: in files, on servers, issued by requests')
  registerShow(certs, io)
  registerLs(certs, io)
}
