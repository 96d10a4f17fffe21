import { DatabaseSync } from 'node:sqlite'
import { systemCode } from '../../errors.ts'
import type { Clock, Disk, Log } from '../../ports.ts'
import { Expiry } from './expiry.ts'
import { GroupCommit } from './group-commit.ts'
import { defaultHistoryLimits, type HistoryLimits } from './history.ts'
import { type Plan, Revisions } from './revisions.ts'
import type { Batch } from './sqlite-protocol.ts'
import type { Store, Stored } from './store.ts'
import { defaultWarmBytes, WarmValues } from './warm-values.ts'
import { startWorkerThread, storageFailed, unreadable } from './worker-thread.ts'

export interface SqliteStoreOptions {
  /** The database file; created with mode 0600 when it is not there (it holds Secrets). */
  path: string
  clock: Clock
  disk: Disk
  log: Log
  history?: HistoryLimits
  /** Bytes of values kept in memory; the rest is read from the disk when it is asked for. */
  warmBytes?: number
  /** Bytes that the database may take; absent: what the disk gives. */
  maximumBytes?: number
}

/**
 * A Store on SQLite in a worker thread. A write becomes visible, and its promise resolves, only when it is durable; one
 * that the disk refuses changes nothing and rejects with STORAGE_FAILED. Throws RollcallError STORAGE_FAILED when the
 * file cannot be used, DIRECTORY_IN_USE when another process has it.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, disk, log, maximumBytes } = options
  await createFile(disk, path)
  const thread = await startWorkerThread({ path, ...(maximumBytes && { maximumBytes }) })
  const { revision, torn } = thread
  if (torn > 0)
    log.warn('the log of the state database ended within a transaction, which was dropped', {
      path,
      bytes: torn,
      revision,
    })
  const reader = openReader(path)
  const values = new WarmValues({ limit: options.warmBytes ?? defaultWarmBytes, read: reader.read })
  const ending: { key: string; expiresAt: number }[] = []
  let revisions: Revisions
  try {
    const initial = { revision, entries: restingEntries(reader.rows(), values, ending) }
    revisions = new Revisions(options.history ?? defaultHistoryLimits, initial, stored => values.hold(stored))
  } catch (error) {
    reader.close()
    await thread.close()
    throw unreadable(path, error instanceof Error ? error.message : String(error))
  }
  const commits = new GroupCommit({
    revisions,
    commit: plan => {
      for (const { event } of plan.changes) values.keep(event.previous)
      thread.post({ type: 'commit', batch: batchOf(plan) })
    },
    applied: plan => {
      for (const { event, expiresAt } of plan.changes) {
        values.keep(event.previous)
        values.release(event.current)
        expiry.written(event.key, expiresAt)
      }
    },
  })
  thread.listen({
    committed: () => commits.committed(),
    refused: error => commits.refused(error),
    ended: error => commits.abandon(error),
  })
  const expiry = new Expiry(clock, key => {
    const current = revisions.get(key)
    if (!current) return
    commits
      .write({ key, expect: current.modRevision, value: null })
      .catch(error => log.warn('an expired object could not be removed', { key, error: String(error) }))
  })
  for (const { key, expiresAt } of ending) expiry.written(key, expiresAt)
  let closed: Promise<void> | undefined

  return {
    get revision() {
      return revisions.revision
    },
    get: key => revisions.get(key),
    list: (prefix, listOptions) => revisions.list(prefix, listOptions),
    watch: (prefix, after, listener) => revisions.watch(prefix, after, listener),
    compact: upTo => revisions.compact(upTo),
    write: write => commits.write(write),
    close() {
      expiry.stop()
      closed ??= commits.end(storageFailed(path, 'the store is closed')).then(() => {
        // First: whoever closes last has to put the log into the database, and a reader cannot.
        reader.close()
        return thread.close()
      })
      return closed
    },
  }
}

/** An entry without its value: key, revision of its creation and of its last write, and when it ends, if it does. */
type RestingRow = readonly [
  key: string,
  createRevision: number,
  modRevision: number,
  expiresAt: number | null,
]

/** `ending` gets what has a time of its end. */
function* restingEntries(
  rows: Iterable<RestingRow>,
  values: WarmValues,
  ending: { key: string; expiresAt: number }[],
): Generator<Stored> {
  for (const [key, createRevision, modRevision, expiresAt] of rows) {
    if (expiresAt !== null) ending.push({ key, expiresAt })
    yield values.resting({ key, createRevision, modRevision })
  }
}

/** Reads what is committed. */
function openReader(path: string): {
  /** In the order of keys. Throws SQLite's errors. */
  rows(): Iterable<RestingRow>
  /** Throws RollcallError STORAGE_FAILED. */
  read(key: string, modRevision: number): Uint8Array
  close(): void
} {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
  const select = database.prepare('SELECT value FROM entries WHERE key = ? AND mod_revision = ?')
  return {
    rows() {
      const all = database.prepare(
        'SELECT key, create_revision, mod_revision, expires_at FROM entries ORDER BY key',
      )
      all.setReturnArrays(true)
      // The columns are those of the statement; SQLite gives no types to check them with.
      return all.iterate() as Iterable<unknown> as Iterable<RestingRow>
    },
    read(key, modRevision) {
      let row: ReturnType<typeof select.get>
      try {
        row = select.get(key, modRevision)
      } catch (error) {
        throw storageFailed(path, error instanceof Error ? error.message : String(error))
      }
      if (!(row?.value instanceof Uint8Array))
        throw storageFailed(path, `${key} of revision ${modRevision} is not there any more`)
      return row.value
    },
    close: () => database.close(),
  }
}

/** The file must be 0600 from its first byte; SQLite gives its side files the same mode. */
async function createFile(disk: Disk, path: string): Promise<void> {
  try {
    await disk.write(path, '', { mode: 0o600, exclusive: true })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST')
      throw storageFailed(path, error instanceof Error ? error.message : String(error))
  }
}

function batchOf({ changes }: Plan): Batch {
  // Only the last change of a key counts: a batch is one transaction.
  const last = new Map(changes.map(change => [change.event.key, change]))
  const batch: Batch = { puts: [], deletes: [], revision: changes.at(-1)?.event.revision ?? 0 }
  for (const { event, expiresAt } of last.values()) {
    if (event.current) {
      const { key, value, createRevision, modRevision } = event.current
      batch.puts.push({ key, value, createRevision, modRevision, expiresAt: expiresAt ?? null })
    } else batch.deletes.push(event.key)
  }
  return batch
}
