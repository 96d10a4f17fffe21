import type { Clock, Timer } from '../../ports.ts'

/** One timer that tells all watches which asked for bookmarks that it is time for one. */
export class Bookmarks {
  readonly #clock: Clock
  readonly #seconds: number
  readonly #watches = new Set<() => void>()
  #timer: Timer | undefined

  constructor(clock: Clock, seconds: number) {
    this.#clock = clock
    this.#seconds = seconds
  }

  /** Calls `bookmark` every `seconds`; the first may come sooner. The function returned ends it. */
  add(bookmark: () => void): () => void {
    this.#watches.add(bookmark)
    this.#timer ??= this.#startTimer()
    return () => {
      this.#watches.delete(bookmark)
      if (this.#watches.size > 0) return
      this.#timer?.cancel()
      this.#timer = undefined
    }
  }

  #startTimer(): Timer {
    return this.#clock.after(this.#seconds * 1000, () => this.#tick())
  }

  #tick(): void {
    this.#timer = this.#startTimer()
    for (const bookmark of this.#watches) bookmark()
  }
}
