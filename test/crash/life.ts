import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { clientOf } from '../../src/cluster/demo/running-up.ts'
import { fleetNode } from '../../src/fleet/fleet-address.ts'
import { SeededRandom } from '../../src/fleet/simulated/random.ts'
import { fleetProcess, processesOf } from '../support/data-folder.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type RollcallProcess, startRollcall } from '../support/rollcall-process.ts'
import { inflict } from './damage.ts'
import { judge } from './judge.ts'
import { describeRound, type Life, type Round } from './plan.ts'
import { Writer } from './writer.ts'

export interface LifeReport {
  /** Kills before `up` was ready: while it started, or nodes joined or renewed. */
  early: number
  /** Milliseconds from the end of the last round until everything was right. */
  recovery: number
  acknowledged: number
  /** How often the acknowledged ConfigMaps were compared with the API. */
  compared: number
}

export interface LifeOptions {
  directory: string
  nodes: number
  seed: string
  onLine(line: string): void
}

/** Milliseconds within which a start must be ready, also on a busy machine. */
const READY_WITHIN = 60_000

/** One data directory through its kills, and at the end what must hold. Rejects at the first thing that does not. */
export async function live(rounds: Life, options: LifeOptions): Promise<LifeReport> {
  const { directory, nodes, seed } = options
  const writer = new Writer(directory, new SeededRandom(`writer ${seed} ${rounds[0]?.number}`))
  const machine = new Machine(directory, nodes, await freePort())
  let early = 0
  writer.start()
  try {
    for (const round of rounds) {
      options.onLine(describeRound(round))
      if (await runRound(round, machine)) early += 1
    }
    await writer.stop()
    const began = performance.now()
    await machine.settle()
    const { client, transport } = await clientOf(join(directory, 'admin.kubeconfig'))
    try {
      await writer.compare(client)
      await untilRight(() => judge(directory, nodes, client))
    } finally {
      transport.closeConnections()
    }
    const recovery = performance.now() - began
    await machine.end()
    return { early, recovery, acknowledged: writer.acknowledged, compared: writer.compared }
  } catch (error) {
    // What went wrong first is what matters; whatever follows from it is not told.
    await writer.stop().catch(() => {})
    await machine.end().catch(() => {})
    throw error
  }
}

/** Whether the kill came before ready. */
async function runRound(round: Round, machine: Machine): Promise<boolean> {
  if (round.damage !== 'none') {
    await machine.untilFleetEnded()
    for (const index of round.damaged) await inflict(round.damage, machine.directory, fleetNode(index).name)
  }
  machine.start()
  if (round.from === 'ready') await machine.ready()
  if (round.from === 'fleet') await machine.untilFleetRuns()
  await setTimeout(round.after)
  const early = !machine.isReady
  machine.kill(round.victim)
  return early
}

/** Resolves as soon as nothing is wrong; after READY_WITHIN it rejects with what still is. */
async function untilRight(look: () => Promise<void>): Promise<void> {
  const end = performance.now() + READY_WITHIN
  for (;;) {
    try {
      return await look()
    } catch (error) {
      if (performance.now() > end) throw error
      await setTimeout(200)
    }
  }
}

/** The processes of `up` on one directory. */
class Machine {
  readonly directory: string
  readonly #nodes: number
  readonly #port: number
  #up: RollcallProcess | undefined
  /** Whether the `up` that runs has said so. */
  isReady = false

  constructor(directory: string, nodes: number, port: number) {
    this.directory = directory
    this.#nodes = nodes
    this.#port = port
  }

  /** Nothing when it runs already. */
  start(): void {
    if (this.#up) return
    // A port of its own, so that clients and nodes find the API again at the same place.
    const args = ['--nodes', String(this.#nodes), '--dir', this.directory, '--port', String(this.#port)]
    const up = startRollcall(['up', ...args], {}, { ownGroup: true })
    this.#up = up
    this.isReady = false
    up.ready.then(
      () => {
        this.isReady = this.#up === up
      },
      () => {}, // it was killed before
    )
  }

  async ready(): Promise<void> {
    const up = this.#up
    if (!up) return
    const late = setTimeout(READY_WITHIN, undefined, { ref: false }).then(() => {
      throw new Error(`not ready within ${READY_WITHIN / 1000} s\n${up.stderr()}`)
    })
    await Promise.race([up.ready, late])
  }

  kill(victim: Round['victim']): void {
    const up = this.#up
    if (!up?.child.pid) return
    if (up.child.exitCode !== null)
      throw new Error(`up ended by itself (${up.child.exitCode})\n${up.stderr()}`)
    if (victim === 'fleet') {
      const fleet = fleetProcess(this.directory)
      if (fleet) process.kill(fleet, 'SIGKILL')
      return
    }
    process.kill(victim === 'both' ? -up.child.pid : up.child.pid, 'SIGKILL')
    this.#up = undefined
  }

  async untilFleetRuns(): Promise<void> {
    const up = this.#up
    if (!up) return
    const ended = up.ended.then(how => {
      throw new Error(`up ended by itself (${how})\n${up.stderr()}`)
    })
    await Promise.race([eventually('a fleet runs', () => fleetProcess(this.directory), READY_WITHIN), ended])
  }

  /** A fleet whose parent was killed ends by itself; whoever changes its files waits for that. */
  async untilFleetEnded(): Promise<void> {
    await eventually('the fleet of a killed parent ends', () => processesOf(this.directory).length === 0)
  }

  /** Ready, after another start unless it still runs. */
  async settle(): Promise<void> {
    this.start()
    await this.ready()
  }

  async stop(): Promise<void> {
    const up = this.#up
    const how = await up?.stop()
    this.#up = undefined
    if (up && how !== 0) throw new Error(`SIGTERM ended up with ${how}, not with 0\n${up.stderr()}`)
  }

  async end(): Promise<void> {
    await this.stop()
    await this.untilFleetEnded()
  }
}
