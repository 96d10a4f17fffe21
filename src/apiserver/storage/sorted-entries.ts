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
  readonly #chunks: Stored[][] = []

  get(key: string): Stored | undefined {
    const chunk = this.#chunks[this.#chunkFor(key)]
    const entry = chunk?.[lowerBound(chunk, key)]
    return entry?.key === key ? entry : undefined
  }

  set(entry: Stored): void {
    const at = this.#chunkFor(entry.key)
    const chunk = this.#chunks[at]
    if (!chunk) {
      this.#chunks.push([entry])
      return
    }
    const index = lowerBound(chunk, entry.key)
    // What comes in order, as it does from the disk, fills its chunks.
    if (index === CHUNK) this.#chunks.splice(at + 1, 0, [entry])
    else chunk.splice(index, chunk[index]?.key === entry.key ? 1 : 0, entry)
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2))
  }

  delete(key: string): void {
    const at = this.#chunkFor(key)
    const chunk = this.#chunks[at]
    if (!chunk) return
    const index = lowerBound(chunk, key)
    if (chunk[index]?.key !== key) return
    chunk.splice(index, 1)
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
