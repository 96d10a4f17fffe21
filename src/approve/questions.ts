/**
 * Requests that wait for what sources outside the cluster say. They wait beside the queue: a source that is slow, or is asked
 * a thousand times, holds up nobody whose request needs no answer.
 */
export class Questions {
  /** By request: under way. */
  readonly #asking = new Map<string, Promise<void>>()
  /** The next look at them goes by what is known then. */
  readonly #answered = new Set<string>()

  /** Whether it was asked for the request since it was looked at last. */
  takeAnswer(name: string): boolean {
    return this.#answered.delete(name)
  }

  /** Asks, unless that is under way; `then` is called when the answer is there. `ask` never rejects. */
  ask(name: string, ask: () => Promise<void>, then: (name: string) => void): void {
    if (this.#asking.has(name)) return
    const asking = ask().then(() => {
      this.#asking.delete(name)
      this.#answered.add(name)
      then(name)
    })
    this.#asking.set(name, asking)
  }

  /** Resolves when nothing is asked any more. */
  async stop(): Promise<void> {
    await Promise.all(this.#asking.values())
  }
}
