import type { Stored } from './store.ts'

/** Splitting at this size keeps an insertion's memmove to a few kilobytes, whatever the number of keys. */
const CHUNK = 512

/** Sorts after every key that starts with `prefix`. */
export const endOfPrefix = (prefix: string) => `${prefix}\uffff`

/** Index of the first entry whose key is not before `key`. */
function lowerBound(entries: readonly Stored[], key: string): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]!.key < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The current entries by key and in the order of keys: an array of small sorted arrays (a two-level B-tree). */
export class SortedEntries {
  readonly #byKey = new Map<string, Stored>()
  readonly #chunks: Stored[][] = []

  get size(): number {
    return this.#byKey.size
  }

  get(key: string): Stored | undefined {
    return this.#byKey.get(key)
  }

  set(entry: Stored): void {
    const known = this.#byKey.has(entry.key)
    this.#byKey.set(entry.key, entry)
    const at = this.#chunkFor(entry.key)
    const chunk = this.#chunks[at]
    if (!chunk) {
      this.#chunks.push([entry])
      return
    }
    chunk.splice(lowerBound(chunk, entry.key), known ? 1 : 0, entry)
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2))
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return
    const at = this.#chunkFor(key)
    const chunk = this.#chunks[at]
    if (!chunk) return
    chunk.splice(lowerBound(chunk, key), 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** Entries with `from <= key < to`, in order. Must not be changed meanwhile. */
  *range(from: string, to: string): Generator<Stored> {
    for (let at = this.#chunkFor(from); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!
      for (let index = lowerBound(chunk, from); index < chunk.length; index++) {
        const entry = chunk[index]!
        if (entry.key >= to) return
        yield entry
      }
    }
  }

  /** Number of entries with `from <= key < to`. */
  count(from: string, to: string): number {
    if (from >= to) return 0
    let count = 0
    for (let at = this.#chunkFor(from); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!
      if (chunk[0]!.key >= to) break
      const end = chunk.at(-1)!.key < to ? chunk.length : lowerBound(chunk, to)
      count += Math.max(0, end - lowerBound(chunk, from))
    }
    return count
  }

  /** Index of the last chunk that starts at or before `key`; 0 where there is none. */
  #chunkFor(key: string): number {
    let low = 0
    let high = this.#chunks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#chunks[middle]![0]!.key <= key) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }
}
