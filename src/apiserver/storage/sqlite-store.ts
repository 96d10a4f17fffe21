import { systemCode } from '../../errors.ts'
import type { Clock, Disk, Log } from '../../ports.ts'
import { Expiry } from './expiry.ts'
import { GroupCommit } from './group-commit.ts'
import { defaultHistoryLimits, type HistoryLimits } from './history.ts'
import { type Plan, Revisions } from './revisions.ts'
import type { Batch } from './sqlite-protocol.ts'
import type { Store } from './store.ts'
import { startWorkerThread, storageFailed } from './worker-thread.ts'

export interface SqliteStoreOptions {
  /** The database file; created with mode 0600 when it is not there (it holds Secrets). */
  path: string
  clock: Clock
  disk: Disk
  log: Log
  history?: HistoryLimits
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
  const { rows, revision, torn } = thread
  if (torn > 0)
    log.warn('the log of the state database ended within a transaction, which was dropped', {
      path,
      bytes: torn,
      revision,
    })
  const revisions = new Revisions(options.history ?? defaultHistoryLimits, { revision, entries: rows })
  const commits = new GroupCommit({
    revisions,
    commit: plan => thread.post({ type: 'commit', batch: batchOf(plan) }),
    applied: plan => {
      for (const { event, expiresAt } of plan.changes) expiry.written(event.key, expiresAt)
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
  for (const { key, expiresAt } of rows) if (expiresAt !== null) expiry.written(key, expiresAt)
  // Else the first version of everything would be kept as long as the thread.
  rows.length = 0
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
      closed ??= commits.end(storageFailed(path, 'the store is closed')).then(() => thread.close())
      return closed
    },
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
    if (event.current) batch.puts.push({ ...event.current, expiresAt: expiresAt ?? null })
    else batch.deletes.push(event.key)
  }
  return batch
}
