import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { register as registerLs } from './ls.ts'
import { register as registerShow } from './show.ts'
import { register as registerTest } from './try-out.ts'
import { register as registerValidate } from './validate.ts'

export function register(program: Command, io: CommandIo): void {
  const policy = program.command('policy').description('see, check and try out how requests are judged')
  for (const subcommand of [registerLs, registerShow, registerValidate, registerTest]) subcommand(policy, io)
}
