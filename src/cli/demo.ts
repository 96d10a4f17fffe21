import { type Command, Option } from 'commander'
import { runBlackout } from '../cluster/demo/blackout.ts'
import { startDemoLoad } from '../cluster/demo/demo-load.ts'
import { runLockup } from '../cluster/demo/lockup.ts'
import { runRotation } from '../cluster/demo/roll.ts'
import { findRunningUp } from '../cluster/demo/running-up.ts'
import { runThief } from '../cluster/demo/thief.ts'
import { RollcallError } from '../errors.ts'
import { fleetNode } from '../fleet/fleet-address.ts'
import { type TrustRole, trustRoles } from '../kube/rollcall/trust-bundle.ts'
import type { CommandIo } from './command-io.ts'
import { printable } from './printable.ts'

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
  demo
    .command('roll')
    .description('The CAs change under load, and no node is lost: none changes until everybody has answered.')
    .option('--dir <dir>', "the running up's data directory", '.rollcall')
    .addOption(
      new Option('--role <role…>', 'which CAs change, one after the other')
        .choices(trustRoles)
        .default(['apiserver-serving', 'client']),
    )
    .action((flags: { dir: string; role: TrustRole[] }) => roll(flags.dir, [flags.role].flat(), io))
  demo
    .command('lockup')
    .description('The same without asking anybody: nodes are lost, until the old CA is served again.')
    .option('--dir <dir>', "the running up's data directory", '.rollcall')
    .action((flags: { dir: string }) => lockup(flags.dir, io))
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

/** Lines that begin with the seconds since the start. */
function timedLines(io: CommandIo): (text: string) => void {
  const began = io.clock.monotonic()
  return text => {
    const seconds = ((io.clock.monotonic() - began) / 1000).toFixed(1)
    io.stdout(`${`${seconds}s`.padStart(7)}  ${printable(text)}\n`)
  }
}

function fleetNames(nodes: number): string[] {
  return Array.from({ length: nodes }, (_, index) => fleetNode(index + 1).name)
}

async function roll(dir: string, roles: readonly TrustRole[], io: CommandIo): Promise<void> {
  const up = findRunningUp(dir)
  const names = fleetNames(up.nodes)
  const say = timedLines(io)
  const load = startDemoLoad(up, names)
  let over = true
  for (const role of roles) {
    say(`the CA of ${role} changes, under load`)
    const { phase, blockers } = await runRotation(up, role, {
      onStep(_, { to, reason, evidence }) {
        if (reason !== 'Exclusions') say(`  ${to.padEnd(20)} ${evidence.join(', ') || reason}`)
      },
      onExcluded: (consumer, reason) => say(`  left behind by name: ${consumer}: ${reason}`),
    })
    over &&= phase === 'Done'
    for (const blocker of phase === 'Done' ? [] : blockers) say(`  ${blocker}`)
  }
  const answer = await load.answering()
  const { requests, failed, reasons, lost } = await load.stop()
  for (const reason of reasons) io.stdout(`  ${printable(reason)}\n`)
  io.stdout(
    `${answer}/${names.length} answer, ${failed} failed requests of ${requests}, ${lost.length} nodes lost\n`,
  )
  io.exitWith(over && answer === names.length && failed === 0 && lost.length === 0 ? 0 : 1)
}

async function lockup(dir: string, io: CommandIo): Promise<void> {
  const up = findRunningUp(dir)
  const names = fleetNames(up.nodes)
  const load = startDemoLoad(up, names)
  const { lost, back } = await runLockup(up, names, { onEvent: timedLines(io) })
  const answer = await load.answering()
  const { requests, failed } = await load.stop()
  io.stdout(
    `${lost} nodes lost, ${failed} failed requests of ${requests}; after the rollback ${back}/${names.length} are back, ${answer}/${names.length} answer\n`,
  )
  io.exitWith(lost > 0 && back === names.length && answer === names.length ? 0 : 1)
}
