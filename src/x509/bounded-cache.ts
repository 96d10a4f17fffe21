/** Remembers the newest `capacity` answers; the oldest goes first. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  getOrCompute(key: string, compute: () => V): V {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = compute()
    if (this.#entries.size >= this.#capacity) {
      const [oldest] = this.#entries.keys()
      if (oldest !== undefined) this.#entries.delete(oldest)
    }
    this.#entries.set(key, value)
    return value
  }
}
