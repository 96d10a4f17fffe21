/** A binary heap: the smallest rank first, and first come first served among equals. */

interface Entry {
  key: string
  rank: number
  arrival: number
}

export class PriorityQueue {
  readonly #heap: Entry[] = []
  #arrivals = 0

  put(key: string, rank: number): void {
    const heap = this.#heap
    heap.push({ key, rank, arrival: this.#arrivals++ })
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1
      if (!this.#swapIfLess(child, parent)) return
      child = parent
    }
  }

  /** Takes the first out. */
  take(): string | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last) return undefined
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    return first.key
  }

  clear(): void {
    this.#heap.length = 0
  }

  #sink(): void {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1
      const child = this.#less(left + 1, left) ? left + 1 : left
      if (!this.#swapIfLess(child, parent)) return
      parent = child
    }
  }

  #swapIfLess(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (!one || !other || !this.#less(a, b)) return false
    this.#heap[a] = other
    this.#heap[b] = one
    return true
  }

  #less(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (!one || !other) return false
    return one.rank === other.rank ? one.arrival < other.arrival : one.rank < other.rank
  }
}
