import type { Command } from 'commander'
import type { CommandIo } from './command-io.ts'
import { register as registerRebootstrap } from './node-rebootstrap.ts'
import { register as registerRepair } from './node-repair.ts'

export function register(program: Command, io: CommandIo): void {
  const node = program.command('node').description('bring one node back')
  registerRepair(node, io)
  registerRebootstrap(node, io)
}
