import type { Timer } from '../../ports.ts'

interface Entry extends Timer {
  time: number
  order: number
  run: (() => void) | undefined
}

/** Timers ordered by time, then by when they were added: a binary heap whose cancelled entries are dropped lazily. */
export class EventQueue {
  #heap: Entry[] = []
  #order = 0
  #cancelled = 0

  get size(): number {
    return this.#heap.length - this.#cancelled
  }

  /** When the next timer is due, or undefined when there is none. */
  get nextTime(): number | undefined {
    this.#dropCancelled()
    return this.#heap[0]?.time
  }

  add(time: number, run: () => void): Timer {
    const entry: Entry = { time, order: this.#order++, run, cancel: () => this.#cancel(entry) }
    this.#heap.push(entry)
    this.#rise(this.#heap.length - 1)
    return entry
  }

  /** Removes and gives the next timer. */
  take(): { time: number; run: () => void } | undefined {
    this.#dropCancelled()
    const first = this.#removeFirst()
    if (!first?.run) return undefined
    const { time, run } = first
    first.run = undefined
    return { time, run }
  }

  #cancel(entry: Entry): void {
    if (!entry.run) return
    entry.run = undefined
    this.#cancelled += 1
    // Most timers are time limits that are cancelled long before they are due: do not let them pile up.
    if (this.#cancelled > 1000 && this.#cancelled > this.#heap.length / 2) this.#rebuild()
  }

  #rebuild(): void {
    this.#heap = this.#heap.filter(entry => entry.run).sort((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#cancelled = 0
  }

  #dropCancelled(): void {
    while (this.#heap[0] && !this.#heap[0].run) {
      this.#removeFirst()
      this.#cancelled -= 1
    }
  }

  #removeFirst(): Entry | undefined {
    const first = this.#heap[0]
    const last = this.#heap.pop()
    if (first && last && first !== last) {
      this.#heap[0] = last
      this.#sink(last)
    }
    return first
  }

  #rise(index: number): void {
    const heap = this.#heap
    const entry = heap[index] as Entry
    let at = index
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above] as Entry
      if (isBefore(parent, entry)) break
      heap[at] = parent
      at = above
    }
    heap[at] = entry
  }

  #sink(entry: Entry): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      const right = heap[below + 1]
      if (right && isBefore(right, heap[below] as Entry)) below += 1
      const child = heap[below] as Entry
      if (isBefore(entry, child)) break
      heap[at] = child
      at = below
    }
    heap[at] = entry
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order)
}
