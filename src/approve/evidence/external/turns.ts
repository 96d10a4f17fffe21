/** Places for a few at a time; of those that wait, one of each party after the other, so that no party holds up another. */
export class Turns {
  readonly #places: number
  #taken = 0
  /** By party, in the order in which they were last served. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(places: number) {
    this.#places = places
  }

  /** Resolves when there is a place, which is then taken. */
  async take(party: string): Promise<void> {
    if (this.#taken < this.#places) {
      this.#taken++
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const own = this.#waiting.get(party)
    if (own) own.push(resolve)
    else this.#waiting.set(party, [resolve])
    // The place is handed over, so it stays taken.
    await promise
  }

  giveBack(): void {
    const [next] = this.#waiting
    if (!next) {
      this.#taken--
      return
    }
    const [party, waiting] = next
    this.#waiting.delete(party)
    const resolve = waiting.shift()
    // Behind all other parties now.
    if (waiting.length > 0) this.#waiting.set(party, waiting)
    resolve?.()
  }
}
