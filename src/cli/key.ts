import type { Command } from 'commander'
import type { CommandIo } from './command-io.ts'
import { register as registerGenerate } from './key-generate.ts'
import { register as registerShow } from './key-show.ts'

export function register(program: Command, io: CommandIo): void {
  const command = program.command('key').description('Signing keys in a PKCS#11 token or behind a signer.')
  registerGenerate(command, io)
  registerShow(command, io)
}
