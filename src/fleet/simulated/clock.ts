import type { Clock, Timer } from '../../ports.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A machine's clocks: the wall clock may be wrong and may jump, the monotonic one runs since the machine's start. */
export class MachineClock {
  readonly #time: VirtualTime
  #offset: number
  #started: number

  /** `offset`: how many milliseconds the wall clock is ahead of the true time. */
  constructor(time: VirtualTime, offset = 0) {
    this.#time = time
    this.#offset = offset
    this.#started = time.now
  }

  now(): number {
    return Math.floor(this.#time.now + this.#offset)
  }

  monotonic(): number {
    return this.#time.now - this.#started
  }

  get offset(): number {
    return this.#offset
  }

  /** Sets the wall clock forward (or, negative, back). Timers do not notice, as with setTimeout. */
  jump(milliseconds: number): void {
    this.#offset += milliseconds
  }

  /** The machine starts anew: its monotonic clock is 0. */
  restart(): void {
    this.#started = this.#time.now
  }
}

/** The clock that one process sees: the machine's, and timers that die with the process. */
export class ProcessClock implements Clock {
  readonly #time: VirtualTime
  readonly #machine: MachineClock
  readonly #timers = new Set<Timer>()
  #dead = false

  constructor(time: VirtualTime, machine: MachineClock) {
    this.#time = time
    this.#machine = machine
  }

  now(): number {
    return this.#machine.now()
  }

  monotonic(): number {
    return this.#machine.monotonic()
  }

  after(milliseconds: number, run: () => void): Timer {
    if (this.#dead) return { cancel() {} }
    if (Number.isNaN(milliseconds)) throw new TypeError('a timer needs a number of milliseconds, got NaN')
    const timer = this.#time.after(Math.max(0, milliseconds), () => {
      this.#timers.delete(handle)
      run()
    })
    const handle: Timer = {
      cancel: () => {
        timer.cancel()
        this.#timers.delete(handle)
      },
    }
    this.#timers.add(handle)
    return handle
  }

  /** The process is gone: none of its timers ever runs. */
  stop(): void {
    this.#dead = true
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  /** Timers that wait to run. */
  get pending(): number {
    return this.#timers.size
  }
}
