import { RollcallError } from '../../errors.ts'
import type { Clock } from '../../ports.ts'
import { Expiry } from './expiry.ts'
import { defaultHistoryLimits, type HistoryLimits } from './history.ts'
import { Revisions } from './revisions.ts'
import type { Store } from './store.ts'

export interface MemoryStoreOptions {
  clock: Clock
  history?: HistoryLimits
}

/** A Store that ends with the process: for tests and simulations. A write is visible at once. */
export function createMemoryStore({ clock, history = defaultHistoryLimits }: MemoryStoreOptions): Store {
  const revisions = new Revisions(history, { revision: 1, entries: [] })
  let closed = false

  const write: Store['write'] = async write => {
    if (closed) throw new RollcallError('STORAGE_FAILED', `${write.key} was not written: the store is closed`)
    const plan = revisions.plan([write])
    for (const change of plan.changes) expiry.written(change.event.key, change.expiresAt)
    revisions.apply(plan)
    return plan.results[0]!
  }
  const expiry = new Expiry(clock, key => {
    const current = revisions.get(key)
    if (current) void write({ key, expect: current.modRevision, value: null })
  })

  return {
    get revision() {
      return revisions.revision
    },
    get: key => revisions.get(key),
    list: (prefix, options) => revisions.list(prefix, options),
    watch: (prefix, after, listener) => revisions.watch(prefix, after, listener),
    compact: revision => revisions.compact(revision),
    write,
    async close() {
      closed = true
      expiry.stop()
    },
  }
}
