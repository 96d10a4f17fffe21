import type { Command } from 'commander'
import type { CommandIo } from '../command-io.ts'
import { register as registerReadiness } from './readiness.ts'
import { register as registerStart } from './start.ts'
import { register as registerStatus } from './status.ts'
import { register as registerWishes } from './wishes.ts'

export function register(program: Command, io: CommandIo): void {
  const ca = program.command('ca').description('change the CAs of the cluster, once everybody has answered')
  for (const subcommand of [registerReadiness, registerStart, registerStatus, registerWishes])
    subcommand(ca, io)
}
