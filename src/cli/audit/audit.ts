import type { Command } from 'commander'
import { systemDisk } from '../../host/disk.ts'
import type { CommandIo } from '../command-io.ts'
import { register as registerFind } from './find.ts'
import type { LogReader } from './read-logs.ts'
import { register as registerTail } from './tail.ts'
import { register as registerVerify } from './verify.ts'

export function register(program: Command, io: CommandIo, disk: LogReader = systemDisk): void {
  const audit = program
    .command('audit')
    .description('what was decided about requests, and whether the log of it is whole')
  for (const subcommand of [registerVerify, registerFind, registerTail]) subcommand(audit, io, disk)
}
