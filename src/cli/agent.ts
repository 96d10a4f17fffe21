import type { Command } from 'commander'
import type { CommandIo } from './command-io.ts'
export function register(_program: Command, _io: CommandIo): void {}
