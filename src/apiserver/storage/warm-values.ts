import { Recent } from '../recent.ts'
import type { Stored } from './store.ts'

/** Bytes of values kept in memory of those that the disk has too. */
export const defaultWarmBytes = 48 * 1024 * 1024

export interface WarmValuesOptions {
  /** Bytes. */
  limit: number
  /** The value from the disk. Throws RollcallError STORAGE_FAILED. */
  read(key: string, modRevision: number): Uint8Array
}

/** Of so many values that were read last it is known. */
const rememberedReads = 4096

/**
 * Entries whose values are in memory while they are new or were asked for again lately, and else are read from the disk:
 * what is stored and rests takes only its key. Who reads all of them once, as lists at a start do, warms none. The
 * longest here goes first.
 */
export class WarmValues {
  readonly #options: WarmValuesOptions
  /** Entries that may be cooled down, and how many bytes their values have. */
  readonly #warm = new Set<Entry>()
  #bytes = 0
  /** In which order; a Map would walk over everything that was deleted before its first entry. */
  #order: Entry[] = []
  #head = 0
  /** Read from the disk lately. */
  readonly #asked = new Set<Entry>()
  readonly #lately = new Recent<Entry>(rememberedReads, entry => this.#asked.delete(entry))

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
    const { value } = entry
    entry.load(value)
    if (this.#warm.delete(entry)) this.#bytes -= value.length
  }

  /** The disk has this version now. */
  release(entry: Stored | undefined): void {
    if (entry instanceof Entry) this.#warmUp(entry, entry.value)
  }

  /** For entries only. */
  read(entry: Entry): Uint8Array {
    const value = this.#options.read(entry.key, entry.modRevision)
    if (this.#asked.has(entry)) this.#warmUp(entry, value)
    else {
      this.#asked.add(entry)
      this.#lately.add(entry)
    }
    return value
  }

  #warmUp(entry: Entry, value: Uint8Array): void {
    if (this.#warm.has(entry)) return
    entry.load(value)
    this.#warm.add(entry)
    this.#order.push(entry)
    this.#bytes += value.length
    while (this.#bytes > this.#options.limit) this.#coolOldest()
  }

  #coolOldest(): void {
    const oldest = this.#order[this.#head++]
    if (oldest && this.#warm.delete(oldest)) {
      this.#bytes -= oldest.value.length
      oldest.load(undefined)
    }
    if (this.#head < 1024 || this.#head * 2 < this.#order.length) return
    this.#order = this.#order.slice(this.#head)
    this.#head = 0
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
