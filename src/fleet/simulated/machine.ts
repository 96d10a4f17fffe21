import type { Clock, Disk, Log } from '../../ports.ts'
import { MachineClock, ProcessClock } from './clock.ts'
import type { EventDigest, Fact } from './digest.ts'
import { asynchronousDisk, MachineDisk } from './disk.ts'
import type { SeededRandom } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What all machines of a world share. */
export interface Surroundings {
  time: VirtualTime
  digest: EventDigest
}

/** How long one call to a healthy disk takes, in milliseconds. */
const DISK_LATENCY = { least: 0.05, most: 2 }

/** One computer: a disk and clocks that outlive its processes, and whether it can be reached. */
export class Machine {
  readonly name: string
  readonly clock: MachineClock
  readonly disk: MachineDisk
  readonly random: SeededRandom
  readonly #surroundings: Surroundings
  #process: MachineProcess | undefined
  #starts = 0
  /** How many times slower than healthy the disk is. */
  diskSlowness = 1
  /** Cut off: nothing goes out and nothing comes in. */
  partitioned = false

  constructor(name: string, surroundings: Surroundings, random: SeededRandom, clockOffset = 0) {
    this.name = name
    this.#surroundings = surroundings
    this.random = random
    this.clock = new MachineClock(surroundings.time, clockOffset)
    this.disk = new MachineDisk(random.stream('disk'), this.clock)
  }

  get process(): MachineProcess | undefined {
    return this.#process
  }

  /** Starts the machine's one process anew; the last one must be dead. */
  start(): MachineProcess {
    if (this.#process?.alive) throw new Error(`${this.name} runs already`)
    this.#starts += 1
    this.#process = new MachineProcess(
      this,
      this.#surroundings,
      this.random.stream(`process-${this.#starts}`),
    )
    this.record('start')
    return this.#process
  }

  /** Ends the process at this very event (SIGKILL): files stay as they are. */
  kill(): void {
    if (!this.#process?.alive) return
    this.record('kill')
    this.#process.end()
  }

  /** The process ends and what the disk had not synced is lost by chance. */
  cutPower(): void {
    this.#process?.end()
    const lost = this.disk.crash()
    this.clock.restart()
    this.record('power cut', lost)
  }

  record(kind: string, facts?: { [name: string]: Fact }): void {
    this.#surroundings.digest.record(this.#surroundings.time.now, this.name, kind, facts)
  }
}

/** One run of a program on a machine. After `end` nothing of it goes on: its timers and calls never come back. */
export class MachineProcess {
  readonly machine: Machine
  readonly clock: Clock
  readonly disk: Disk
  readonly random: SeededRandom
  readonly log: Log
  readonly #clock: ProcessClock
  readonly #onEnd = new Set<() => void>()
  #alive = true

  constructor(machine: Machine, surroundings: Surroundings, random: SeededRandom) {
    this.machine = machine
    this.random = random
    this.#clock = new ProcessClock(surroundings.time, machine.clock)
    this.clock = this.#clock
    const latency = random.stream('disk latency')
    this.disk = asynchronousDisk(machine.disk, call => this.#callDisk(call, latency))
    this.log = recordingLog(machine)
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Calls `run` when the process ends, unless the function returned was called before. */
  onEnd(run: () => void): () => void {
    this.#onEnd.add(run)
    return () => this.#onEnd.delete(run)
  }

  end(): void {
    this.#alive = false
    this.#clock.stop()
    for (const run of [...this.#onEnd]) run()
    this.#onEnd.clear()
  }

  /** Timers that wait; for tests that look for leaks. */
  get timers(): number {
    return this.#clock.pending
  }

  /** A call takes effect at its beginning or its end, so that a crash falls between the effect and the answer too. */
  #callDisk<T>(call: () => T, latency: SeededRandom): Promise<T> {
    if (!this.#alive) return new Promise(() => {})
    const milliseconds = latency.between(DISK_LATENCY.least, DISK_LATENCY.most) * this.machine.diskSlowness
    const early = latency.chance(0.5) ? attempt(call) : undefined
    return new Promise((resolve, reject) => {
      this.clock.after(milliseconds, () => {
        const outcome = early ?? attempt(call)
        if (outcome.ok) resolve(outcome.value)
        else reject(outcome.error)
      })
    })
  }
}

type Outcome<T> = { ok: true; value: T } | { ok: false; error: unknown }

function attempt<T>(call: () => T): Outcome<T> {
  try {
    return { ok: true, value: call() }
  } catch (error) {
    return { ok: false, error }
  }
}

/** Log lines are events too; the fields are left out because they may hold signatures (canonical JSON of anything). */
function recordingLog(machine: Machine): Log {
  return {
    info: message => machine.record('info', { message }),
    warn: message => machine.record('warn', { message }),
    error: message => machine.record('error', { message }),
  }
}
