/** Remembers the last `capacity` things that were added, and says goodbye to the one that makes room for the next. */
export class Recent<T> {
  readonly #ring: T[] = []
  readonly #capacity: number
  readonly #forget: (item: T) => void
  #next = 0

  constructor(capacity: number, forget: (item: T) => void) {
    this.#capacity = capacity
    this.#forget = forget
  }

  add(item: T): void {
    const oldest = this.#ring[this.#next]
    if (oldest !== undefined) this.#forget(oldest)
    this.#ring[this.#next] = item
    this.#next = (this.#next + 1) % this.#capacity
  }
}
