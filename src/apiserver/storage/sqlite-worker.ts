/**
 * The thread that owns the database: opens it, then turns each batch into one transaction. A commit with
 * synchronous=FULL returns when the disk has it, so the store's event loop never waits for the disk.
 */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { logSize, missingPages, tornLog } from './sqlite-damage.ts'
import { lockDatabase } from './sqlite-lock.ts'
import type { Batch, FromWorker, ToWorker, WorkerOptions } from './sqlite-protocol.ts'

const PAGE_SIZE = 4096

const schema = `
  CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    create_revision INTEGER NOT NULL,
    mod_revision INTEGER NOT NULL,
    expires_at INTEGER
  );
  CREATE TABLE IF NOT EXISTS last (one INTEGER PRIMARY KEY CHECK (one = 1), revision INTEGER NOT NULL);
  INSERT OR IGNORE INTO last VALUES (1, 1);
  PRAGMA user_version = 1;
`

/**
 * All that is read at a start, without the values that lie between: the table has a page for each request and more. It is
 * for speed alone, so one that the disk has no room for can wait.
 */
function indexResting(database: DatabaseSync): void {
  try {
    database.exec(
      'CREATE INDEX IF NOT EXISTS entries_resting ON entries (key, create_revision, mod_revision, expires_at)',
    )
  } catch (error) {
    if (!/full|I\/O/.test(messageOf(error))) throw error
  }
}

/** Throws when the file cannot be used or is damaged; whatever it holds is then left as it is. */
function open({ path, maximumBytes }: WorkerOptions): { database: DatabaseSync; torn: number } {
  const missing = missingPages(path)
  if (missing) throw new Error(`the database is damaged: ${missing}`)
  const size = logSize(path)
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA page_size = ${PAGE_SIZE}; PRAGMA journal_mode = WAL;`)
  if (size > 0) requireWhole(database)
  const torn = size > 0 ? tornLog(database, path, size) : 0
  database.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;')
  if (maximumBytes) database.exec(`PRAGMA max_page_count = ${Math.ceil(maximumBytes / PAGE_SIZE)}`)
  database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`)
  indexResting(database)
  return { database, torn }
}

/** Reads all of it, so only when the last process did not close it. */
function requireWhole(database: DatabaseSync): void {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
  if (found !== 'ok') throw new Error(`the database is damaged: ${String(found).replaceAll('\n', ' ')}`)
}

function committer(database: DatabaseSync): (batch: Batch) => void {
  const put = database.prepare(
    `INSERT INTO entries VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
     value = excluded.value, create_revision = excluded.create_revision,
     mod_revision = excluded.mod_revision, expires_at = excluded.expires_at`,
  )
  const remove = database.prepare('DELETE FROM entries WHERE key = ?')
  const advance = database.prepare('UPDATE last SET revision = ?')
  return batch => {
    database.exec('BEGIN IMMEDIATE')
    try {
      for (const key of batch.deletes) remove.run(key)
      for (const row of batch.puts)
        put.run(row.key, row.value, row.createRevision, row.modRevision, row.expiresAt)
      advance.run(batch.revision)
      database.exec('COMMIT')
    } catch (error) {
      // SQLite has rolled back by itself after some errors (disk full), not after others.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function run(port: NonNullable<typeof parentPort>, options: WorkerOptions): void {
  const send = (message: FromWorker) => port.postMessage(message)
  let database: DatabaseSync
  let lock: { release(): void } | undefined
  let commit: (batch: Batch) => void
  try {
    lock = lockDatabase(options.path)
    const opened = open(options)
    database = opened.database
    commit = committer(database)
    const last = database.prepare('SELECT revision FROM last').get()
    send({ type: 'open', revision: Number(last?.revision ?? 1), torn: opened.torn })
  } catch (error) {
    lock?.release()
    send({ type: 'unusable', message: messageOf(error), locked: /database is locked/.test(messageOf(error)) })
    port.close()
    return
  }
  port.on('message', (message: ToWorker) => {
    if (message.type === 'close') {
      database.close()
      lock?.release()
      port.close()
      return
    }
    try {
      commit(message.batch)
      send({ type: 'committed' })
    } catch (error) {
      send({ type: 'refused', message: messageOf(error) })
    }
  })
}

if (parentPort) run(parentPort, workerData as WorkerOptions)
