import type { Clock, Timer } from '../../ports.ts'

/** Milliseconds between two bookmarks, as in Kubernetes. */
const INTERVAL = 60_000

/** One timer that tells all watches which asked for bookmarks that it is time for one. */
export class Bookmarks {
  readonly #clock: Clock
  readonly #watches = new Set<() => void>()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `bookmark` every minute; the first may come sooner. The function returned ends it. */
  add(bookmark: () => void): () => void {
    this.#watches.add(bookmark)
    this.#timer ??= this.#clock.after(INTERVAL, () => this.#tick())
    return () => {
      this.#watches.delete(bookmark)
      if (this.#watches.size > 0) return
      this.#timer?.cancel()
      this.#timer = undefined
    }
  }

  #tick(): void {
    this.#timer = this.#clock.after(INTERVAL, () => this.#tick())
    for (const bookmark of this.#watches) bookmark()
  }
}
