import type { Timer } from '../../ports.ts'
import { EventQueue } from './event-queue.ts'

/** How many events share one turn of node's event loop; a turn costs a system call, an event almost nothing. */
const EVENTS_A_TURN = 64

/**
 * The time of a whole simulated world: events run one by one in order of time, then of scheduling; between two events
 * all promise jobs run to their end, so nothing depends on the speed of the machine. There is no parallelism: code
 * under simulation must wait only for timers of this clock (real I/O would finish at an unknown event).
 */
export class VirtualTime {
  /** Milliseconds since the epoch by the world's true clock, which no machine sees. */
  now: number
  /** Events run so far. */
  events = 0
  #queue = new EventQueue()
  #running = false

  constructor(start: number) {
    this.now = start
  }

  /** Calls `run` at `time` (a time in the past counts as now). */
  at(time: number, run: () => void): Timer {
    return this.#queue.add(Math.max(time, this.now), run)
  }

  /** Calls `run` `milliseconds` from now (negative counts as 0). */
  after(milliseconds: number, run: () => void): Timer {
    return this.at(this.now + milliseconds, run)
  }

  /** Timers that wait to run. */
  get pending(): number {
    return this.#queue.size
  }

  /** Runs all events up to and including `time`; the clock then shows `time`. Rejects with what an event threw. */
  async runUntil(time: number): Promise<void> {
    await this.#run(() => (this.#queue.nextTime ?? Infinity) > time)
    this.now = Math.max(this.now, time)
  }

  /** Runs for `milliseconds`. */
  runFor(milliseconds: number): Promise<void> {
    return this.runUntil(this.now + milliseconds)
  }

  /**
   * Runs until `holds()` is true after an event, or `deadline` (ms since the epoch) has come; tells which.
   * `holds` is asked after each event, so it must be cheap.
   */
  async runUntilHolds(holds: () => boolean, deadline: number): Promise<boolean> {
    let held = false
    await this.#run(() => {
      held = holds()
      return held || (this.#queue.nextTime ?? Infinity) > deadline
    })
    if (!held) this.now = Math.max(this.now, deadline)
    return held
  }

  #run(isOver: () => boolean): Promise<void> {
    if (this.#running) throw new Error('this virtual time runs already')
    this.#running = true
    return new Promise<void>((resolve, reject) => {
      let ended = false
      const end = (settle: () => void) => {
        ended = true
        this.#running = false
        settle()
      }
      // node runs all promise jobs after each callback of setImmediate, also within one turn of its loop.
      const step = () => {
        if (ended) return
        try {
          if (isOver()) return end(resolve)
          this.#runNext()
        } catch (error) {
          end(() => reject(error))
        }
      }
      const turn = () => {
        step()
        if (ended) return
        for (let count = 1; count < EVENTS_A_TURN; count += 1) setImmediate(step)
        setImmediate(turn)
      }
      setImmediate(turn)
    })
  }

  #runNext(): void {
    const event = this.#queue.take()
    if (!event) throw new Error('nothing is left to happen')
    this.now = event.time
    this.events += 1
    event.run()
  }
}
