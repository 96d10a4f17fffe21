import { CompactedError, type Stored, type StoreEvent } from './store.ts'

export interface HistoryLimits {
  /** At most this many events are kept for resumed watches and lists at an older revision. */
  events: number
  /** At most this many bytes of values are kept with them. */
  bytes: number
}

export const defaultHistoryLimits: HistoryLimits = { events: 10_000, bytes: 64 * 1024 * 1024 }

/** The last changes, oldest first. Every revision is exactly one event, so a revision is an index. */
export class History {
  readonly #limits: HistoryLimits
  #events: StoreEvent[] = []
  /** Bytes of each event's value: to ask for it later could mean to read it from the disk. */
  #sizes: number[] = []
  /** Index of the oldest kept event; the forgotten ones before it are cut off from time to time. */
  #head = 0
  #bytes = 0
  /** All events after this revision are kept. */
  #compacted: number

  constructor(limits: HistoryLimits, revision: number) {
    this.#limits = limits
    this.#compacted = revision
  }

  add(event: StoreEvent): void {
    const size = event.current?.value.length ?? 0
    this.#events.push(event)
    this.#sizes.push(size)
    this.#bytes += size
    while (this.#events.length - this.#head > this.#limits.events || this.#bytes > this.#limits.bytes)
      this.#dropOldest()
  }

  /** Forgets the events up to and including `revision`. */
  compact(revision: number): void {
    while (this.#compacted < revision && this.#head < this.#events.length) this.#dropOldest()
  }

  /** Events after the revision, oldest first. Throws CompactedError when some of them are forgotten. */
  since(revision: number): StoreEvent[] {
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted)
    return this.#events.slice(this.#head + revision - this.#compacted)
  }

  /** What keys under `prefix` that changed since held at `revision`. Throws CompactedError. */
  before(revision: number, prefix: string): Map<string, Stored | undefined> {
    const older = new Map<string, Stored | undefined>()
    for (const event of this.since(revision)) {
      if (event.key.startsWith(prefix) && !older.has(event.key)) older.set(event.key, event.previous)
    }
    return older
  }

  #dropOldest(): void {
    const oldest = this.#events[this.#head]
    if (!oldest) return
    this.#bytes -= this.#sizes[this.#head] ?? 0
    this.#compacted = oldest.revision
    this.#head++
    if (this.#head >= 1024 && this.#head * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#head)
      this.#sizes = this.#sizes.slice(this.#head)
      this.#head = 0
    }
  }
}
