import { History, type HistoryLimits } from './history.ts'
import { endOfPrefix, SortedEntries } from './sorted-entries.ts'
import type { ListPage, Stored, StoreEvent, Write, WriteResult } from './store.ts'

/** What a batch of writes would do: decided before it is durable, applied after. */
export interface Plan {
  /** One for each write that holds, in order of revision. */
  changes: { event: StoreEvent; expiresAt: number | undefined }[]
  /** One for each write, in the order given. */
  results: WriteResult[]
}

interface Watcher {
  prefix: string
  /** Revision of the last event that it has seen. */
  position: number
  listener(event: StoreEvent): void
}

/** The in-memory half of every Store: current values, recent history, watchers. All of it synchronous. */
export class Revisions {
  readonly #entries = new SortedEntries()
  readonly #history: History
  readonly #watchers = new Set<Watcher>()
  #revision: number
  #undelivered: StoreEvent[] = []
  #delivering = false
  readonly #entryOf: (stored: Stored) => Stored

  /** `entryOf` makes what is kept of a version that is written. */
  constructor(
    limits: HistoryLimits,
    initial: { revision: number; entries: Iterable<Stored> },
    entryOf = (stored: Stored) => stored,
  ) {
    this.#entryOf = entryOf
    this.#revision = initial.revision
    this.#history = new History(limits, initial.revision)
    for (const entry of initial.entries) this.#entries.set(entry)
  }

  get revision(): number {
    return this.#revision
  }

  get(key: string): Stored | undefined {
    return this.#entries.get(key)
  }

  list(prefix: string, options: { after?: string; limit?: number; revision?: number } = {}): ListPage {
    const revision = Math.min(options.revision ?? this.#revision, this.#revision)
    const older = this.#history.before(revision, prefix)
    const limit = options.limit ?? Number.POSITIVE_INFINITY
    const from = options.after === undefined ? prefix : `${options.after}\0`
    const items: Stored[] = []
    for (const entry of this.#at(older, from, endOfPrefix(prefix))) {
      if (items.length >= limit) {
        return { items, revision, remaining: this.#count(older, entry.key, endOfPrefix(prefix)) }
      }
      items.push(entry)
    }
    return { items, revision, remaining: 0 }
  }

  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): () => void {
    const past = this.#history.since(Math.min(after, this.#revision))
    const watcher: Watcher = { prefix, position: after, listener }
    this.#watchers.add(watcher)
    for (const event of past) deliver(watcher, event)
    return () => this.#watchers.delete(watcher)
  }

  compact(revision: number): void {
    this.#history.compact(revision)
  }

  /** Judges each write by the current values and by the writes before it in the batch. Changes nothing. */
  plan(writes: readonly Write[]): Plan {
    const planned = new Map<string, Stored | undefined>()
    const plan: Plan = { changes: [], results: [] }
    for (const write of writes) {
      const previous = planned.has(write.key) ? planned.get(write.key) : this.#entries.get(write.key)
      if ((previous?.modRevision ?? 0) !== write.expect || (!previous && !write.value)) {
        plan.results.push({ ok: false, current: previous })
        continue
      }
      const revision = this.#revision + plan.changes.length + 1
      const current =
        write.value &&
        this.#entryOf({
          key: write.key,
          value: write.value,
          createRevision: previous?.createRevision ?? revision,
          modRevision: revision,
        })
      planned.set(write.key, current ?? undefined)
      plan.changes.push({
        event: { revision, key: write.key, ...(current && { current }), ...(previous && { previous }) },
        expiresAt: write.expiresAt,
      })
      plan.results.push({ ok: true, revision })
    }
    return plan
  }

  /** Makes a plan visible. It must be the next one: nothing was applied since it was made. */
  apply(plan: Plan): void {
    for (const { event } of plan.changes) {
      if (event.current) this.#entries.set(event.current)
      else this.#entries.delete(event.key)
      this.#history.add(event)
      this.#revision = event.revision
      this.#undelivered.push(event)
    }
    this.#deliverAll()
  }

  /** A listener may write or watch: its events are queued, so that everybody sees one order of revisions. */
  #deliverAll(): void {
    if (this.#delivering) return
    this.#delivering = true
    try {
      for (let event = this.#undelivered.shift(); event; event = this.#undelivered.shift()) {
        for (const watcher of this.#watchers) deliver(watcher, event)
      }
    } finally {
      this.#delivering = false
    }
  }

  /** The state that `older` describes, from `from` to `to`, in order: two sorted sequences merged. */
  *#at(older: ReadonlyMap<string, Stored | undefined>, from: string, to: string): Generator<Stored> {
    const earlier = [...older.values()]
      .filter(entry => entry !== undefined && entry.key >= from && entry.key < to)
      .sort((a, b) => (a!.key < b!.key ? -1 : 1)) as Stored[]
    let next = 0
    for (const entry of this.#entries.range(from, to)) {
      for (let old = earlier[next]; old && old.key <= entry.key; old = earlier[++next]) yield old
      if (!older.has(entry.key)) yield entry
    }
    yield* earlier.slice(next)
  }

  #count(older: ReadonlyMap<string, Stored | undefined>, from: string, to: string): number {
    let count = this.#entries.count(from, to)
    for (const [key, entry] of older) {
      if (key < from || key >= to) continue
      if (this.#entries.get(key)) count--
      if (entry) count++
    }
    return count
  }
}

function deliver(watcher: Watcher, event: StoreEvent): void {
  if (event.revision <= watcher.position || !event.key.startsWith(watcher.prefix)) return
  watcher.position = event.revision
  watcher.listener(event)
}
