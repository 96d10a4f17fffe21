/**
 * The thread that owns the database: loads it once, then turns each batch into one transaction. A commit with
 * synchronous=FULL returns when the disk has it, so the store's event loop never waits for the disk.
 */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { logSize, missingPages, tornLog } from './sqlite-damage.ts'
import { lockDatabase } from './sqlite-lock.ts'
import type { Batch, FromWorker, LoadedRow, ToWorker, WorkerOptions } from './sqlite-protocol.ts'

const ROWS_PER_MESSAGE = 2000
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
  return { database, torn }
}

/** Reads all of it, so only when the last process did not close it. */
function requireWhole(database: DatabaseSync): void {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
  if (found !== 'ok') throw new Error(`the database is damaged: ${String(found).replaceAll('\n', ' ')}`)
}

function sendRows(database: DatabaseSync, send: (message: FromWorker) => void): void {
  const all = database.prepare(
    'SELECT key, create_revision AS createRevision, mod_revision AS modRevision, expires_at AS expiresAt FROM entries',
  )
  let rows: LoadedRow[] = []
  for (const row of all.iterate()) {
    // The columns are those of the statement above; SQLite gives no types to check them with.
    rows.push(row as unknown as LoadedRow)
    if (rows.length < ROWS_PER_MESSAGE) continue
    send({ type: 'rows', rows })
    rows = []
  }
  send({ type: 'rows', rows })
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
    sendRows(database, send)
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
