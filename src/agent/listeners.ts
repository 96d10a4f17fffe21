import type { Log } from '../ports.ts'

/** Who is told of every change. One that throws is logged and disturbs neither the others nor the caller. */
export class Listeners {
  readonly #log: Log
  readonly #all = new Set<() => void>()

  constructor(log: Log) {
    this.#log = log
  }

  /** The function returned ends it. */
  add(listener: () => void): () => void {
    this.#all.add(listener)
    return () => this.#all.delete(listener)
  }

  tell(): void {
    for (const listener of [...this.#all]) {
      try {
        listener()
      } catch (error) {
        this.#log.error('a listener of the agent failed', { error: String(error) })
      }
    }
  }
}
