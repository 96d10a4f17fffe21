import type { Command } from 'commander'
import { runBlackout } from '../cluster/demo/blackout.ts'
import { findRunningUp } from '../cluster/demo/running-up.ts'
import { runThief } from '../cluster/demo/thief.ts'
import { RollcallError } from '../errors.ts'
import { fleetNode } from '../fleet/fleet-address.ts'
import type { CommandIo } from './command-io.ts'

export function register(program: Command, io: CommandIo): void {
  const demo = program
    .command('demo')
    .description("Act for real on a running 'rollcall up', to show what happens.")
  demo
    .command('thief')
    .description('A stolen node asks for what is not its own.')
    .option('--dir <dir>', "the running up's data directory", '.rollcall')
    .action((flags: { dir: string }) => thief(flags.dir, io))
  demo
    .command('blackout')
    .description('All certificates of all nodes lapse at once.')
    .option('--dir <dir>', "the running up's data directory", '.rollcall')
    .action((flags: { dir: string }) => blackout(flags.dir, io))
}

async function thief(dir: string, io: CommandIo): Promise<void> {
  const up = findRunningUp(dir)
  if (up.nodes < 2)
    throw new RollcallError(
      'USAGE',
      'The thief needs another node to steal from: start up with --nodes 2 or more.',
    )
  const [stolen, victim] = [fleetNode(up.nodes), fleetNode(1)]
  io.stdout(
    `Somebody became root on ${stolen.name} and holds its key and certificate. With them they ask for:\n`,
  )
  let refused = 0
  let asked = 0
  await runThief(up, { thief: stolen.name, victim }, result => {
    asked += 1
    if (!result.issued) refused += 1
    io.stdout(`\n${asked}. ${result.attempt}\n   ${result.issued ? '' : 'refused: '}${result.answer}\n`)
  })
  io.stdout(`\n${refused} of ${asked} refused.\n`)
  io.exitWith(refused === asked ? 0 : 1)
}

async function blackout(dir: string, io: CommandIo): Promise<void> {
  const up = findRunningUp(dir)
  const names = Array.from({ length: up.nodes }, (_, index) => fleetNode(index + 1).name)
  const began = io.clock.monotonic()
  const elapsed = () => `${((io.clock.monotonic() - began) / 1000).toFixed(1)}s`
  await runBlackout(up, names, { onEvent: text => io.stdout(`${elapsed().padStart(6)}  ${text}\n`) })
  io.stdout(`${names.length}/${names.length} nodes recovered in ${elapsed()}, without a restart by hand.\n`)
}
