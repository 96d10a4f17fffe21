import type { Clock } from '../../ports.ts'

/** Milliseconds. */
const window = 60_000
const mostOfAll = 6000
/** Addresses kept apart; what comes from more is counted together only. */
const mostAddresses = 4096

/**
 * Lets each address ask so often a minute: who asks is not known yet, and each question is written to the API. A whole fleet
 * behind one address joins within minutes all the same.
 */
export class AttemptLimit {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #most: number
  #began = Number.NEGATIVE_INFINITY
  #all = 0
  #byAddress = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonic'>, most = 600) {
    this.#clock = clock
    this.#most = most
  }

  /** Whether one more is let through, which then counts. */
  take(address: string): boolean {
    const now = this.#clock.monotonic()
    if (now - this.#began >= window) {
      this.#began = now
      this.#all = 0
      this.#byAddress = new Map()
    }
    const count = this.#byAddress.get(address) ?? 0
    if (this.#all >= mostOfAll || count >= this.#most) return false
    this.#all++
    if (count > 0 || this.#byAddress.size < mostAddresses) this.#byAddress.set(address, count + 1)
    return true
  }
}
