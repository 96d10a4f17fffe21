/** The thread that owns the ledger's file, so that nobody else waits for the disk. */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { logSize, missingPages } from '../apiserver/storage/sqlite-damage.ts'

export interface LedgerRow {
  /** SHA-256 of the CA's DER: serial numbers are unique to their CA only (RFC 5280 section 4.1.2.2). */
  ca: string
  serial: string
  /** Milliseconds since the epoch. */
  notAfter: number
  /** The leaf as one line. */
  leaf: string
}

/** `rows` in one transaction, which also drops what ended before `forgotten` (milliseconds since the epoch). */
export type ToLedger = { type: 'record'; rows: readonly LedgerRow[]; forgotten: number } | { type: 'close' }
export type FromLedger = { type: 'open' | 'recorded' } | { type: 'unusable' | 'refused'; message: string }

const schema = `
  CREATE TABLE IF NOT EXISTS leaves (
    ca TEXT NOT NULL,
    serial TEXT NOT NULL,
    not_after INTEGER NOT NULL,
    leaf TEXT NOT NULL,
    PRIMARY KEY (ca, serial)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS leaves_by_end ON leaves (not_after);
  PRAGMA user_version = 1;
`

/** Throws when the file cannot be used or is damaged; whatever it holds is then left as it is. */
function open(path: string): DatabaseSync {
  closeSync(openSync(path, 'a', 0o600))
  const missing = missingPages(path)
  if (missing) throw new Error(`the database is damaged: ${missing}`)
  const wasLeftOpen = logSize(path) > 0
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;')
    if (wasLeftOpen) requireWhole(database)
    database.exec(schema)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Reads all of it, so only when the last process did not close it. */
function requireWhole(database: DatabaseSync): void {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
  if (found !== 'ok') throw new Error(`the database is damaged: ${String(found).replaceAll('\n', ' ')}`)
}

function recorder(database: DatabaseSync): (rows: readonly LedgerRow[], forgotten: number) => void {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO leaves (ca, serial, not_after, leaf) VALUES (?, ?, ?, ?)',
  )
  const prune = database.prepare('DELETE FROM leaves WHERE not_after < ?')
  return (rows, forgotten) => {
    database.exec('BEGIN IMMEDIATE')
    try {
      prune.run(forgotten)
      for (const { ca, serial, notAfter, leaf } of rows) insert.run(ca, serial, notAfter, leaf)
      database.exec('COMMIT')
    } catch (error) {
      // SQLite has rolled back by itself after some errors (disk full), not after others.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function run(port: NonNullable<typeof parentPort>, path: string): void {
  const send = (message: FromLedger) => port.postMessage(message)
  let database: DatabaseSync
  try {
    database = open(path)
  } catch (error) {
    send({ type: 'unusable', message: messageOf(error) })
    port.close()
    return
  }
  const record = recorder(database)
  port.on('message', (message: ToLedger) => {
    if (message.type === 'close') {
      database.close()
      port.close()
      return
    }
    try {
      record(message.rows, message.forgotten)
      send({ type: 'recorded' })
    } catch (error) {
      send({ type: 'refused', message: messageOf(error) })
    }
  })
  send({ type: 'open' })
}

if (parentPort) run(parentPort, workerData as string)
