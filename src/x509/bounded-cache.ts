/** Remembers the newest `capacity` answers; the oldest goes first. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, V>()
  /** The keys in a ring: the oldest of a full cache is the one at #next. A Map would look for it past all that was deleted. */
  readonly #keys: string[] = []
  readonly #capacity: number
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  getOrCompute(key: string, compute: () => V): V {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const value = compute()
    this.put(key, value)
    return value
  }

  /** What `getOrCompute` gives from now on. */
  put(key: string, value: V): void {
    if (!this.#entries.has(key)) {
      const oldest = this.#keys[this.#next]
      if (oldest !== undefined) this.#entries.delete(oldest)
      this.#keys[this.#next] = key
      this.#next = (this.#next + 1) % this.#capacity
    }
    this.#entries.set(key, value)
  }
}
