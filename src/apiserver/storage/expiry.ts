import type { Clock, Timer } from '../../ports.ts'

/** Milliseconds between two sweeps at least: many Events expire together, one sweep takes them all. */
const SWEEP_INTERVAL = 10_000

/** Which keys end at a time of their own, and a timer that has them removed then. */
export class Expiry {
  readonly #clock: Clock
  readonly #remove: (key: string) => void
  readonly #due = new Map<string, number>()
  #timer: Timer | undefined
  /** Time of the timer, in milliseconds since the epoch. */
  #wakes = Number.POSITIVE_INFINITY

  /** `remove` is called for each key that is due; a key that could not be removed is tried again at the next sweep. */
  constructor(clock: Clock, remove: (key: string) => void) {
    this.#clock = clock
    this.#remove = remove
  }

  /** The key was written: it ends at `expiresAt` (milliseconds since the epoch), or never. */
  written(key: string, expiresAt: number | undefined): void {
    if (expiresAt === undefined) {
      this.#due.delete(key)
      return
    }
    this.#due.set(key, expiresAt)
    if (expiresAt < this.#wakes) this.#schedule(expiresAt)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#due.clear()
  }

  #schedule(time: number): void {
    this.#timer?.cancel()
    this.#wakes = time
    this.#timer = this.#clock.after(Math.max(0, time - this.#clock.now()), () => this.#sweep())
  }

  #sweep(): void {
    const now = this.#clock.now()
    this.#timer = undefined
    this.#wakes = Number.POSITIVE_INFINITY
    for (const [key, time] of this.#due) if (time <= now) this.#remove(key)
    // A failed removal is still in the map, so it is among the next.
    let next = Number.POSITIVE_INFINITY
    for (const time of this.#due.values()) next = Math.min(next, time)
    if (next !== Number.POSITIVE_INFINITY) this.#schedule(Math.max(next, now + SWEEP_INTERVAL))
  }
}
