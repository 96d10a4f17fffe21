import type { Stored } from './store.ts'

/** Bytes of values kept in memory of those that the disk has too. */
export const defaultWarmBytes = 48 * 1024 * 1024

export interface WarmValuesOptions {
  /** Bytes. */
  limit: number
  /** The value from the disk. Throws RollcallError STORAGE_FAILED. */
  read(key: string, modRevision: number): Uint8Array
}

/**
 * Entries whose values are in memory while they are new or were asked for lately, and else are read from the disk again:
 * what is stored and rests takes only its key. The longest here goes first.
 */
export class WarmValues {
  readonly #options: WarmValuesOptions
  /** Entries that may be cooled down, by the bytes of their values. */
  readonly #warm = new Map<Entry, number>()
  #bytes = 0

  constructor(options: WarmValuesOptions) {
    this.#options = options
  }

  /** An entry that the disk does not have yet: its value stays until `release`. */
  hold({ key, value, createRevision, modRevision }: Stored): Stored {
    return new Entry(this, key, createRevision, modRevision, value)
  }

  /** An entry that the disk has. */
  resting({ key, createRevision, modRevision }: Omit<Stored, 'value'>): Stored {
    return new Entry(this, key, createRevision, modRevision, undefined)
  }

  /** The disk is about to forget this version: its value stays in memory as long as the entry. */
  keep(entry: Stored | undefined): void {
    if (!(entry instanceof Entry)) return
    entry.load(entry.value)
    this.#bytes -= this.#warm.get(entry) ?? 0
    this.#warm.delete(entry)
  }

  /** The disk has this version now. */
  release(entry: Stored | undefined): void {
    if (entry instanceof Entry) this.#warmUp(entry, entry.value)
  }

  /** For entries only. */
  read(entry: Entry): Uint8Array {
    const value = this.#options.read(entry.key, entry.modRevision)
    this.#warmUp(entry, value)
    return value
  }

  #warmUp(entry: Entry, value: Uint8Array): void {
    if (this.#warm.has(entry)) return
    entry.load(value)
    this.#warm.set(entry, value.length)
    this.#bytes += value.length
    for (const [oldest, bytes] of this.#warm) {
      if (this.#bytes <= this.#options.limit) break
      this.#warm.delete(oldest)
      this.#bytes -= bytes
      oldest.load(undefined)
    }
  }
}

class Entry implements Stored {
  readonly key: string
  readonly createRevision: number
  readonly modRevision: number
  readonly #values: WarmValues
  #value: Uint8Array | undefined

  constructor(
    values: WarmValues,
    key: string,
    createRevision: number,
    modRevision: number,
    value: Uint8Array | undefined,
  ) {
    this.#values = values
    this.key = key
    this.createRevision = createRevision
    this.modRevision = modRevision
    this.#value = value
  }

  get value(): Uint8Array {
    return this.#value ?? this.#values.read(this)
  }

  /** undefined: it is read when it is asked for. */
  load(value: Uint8Array | undefined): void {
    this.#value = value
  }
}
