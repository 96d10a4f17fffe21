import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { logSize, missingPages } from '../apiserver/storage/sqlite-damage.ts'
import { RollcallError } from '../errors.ts'
import type { Clock, Log } from '../ports.ts'
import { decodeLeaf, encodeLeaf, forgottenBefore, type Leaf } from '../sign/leaf.ts'
import type { LastingLedger, LedgerEntry } from '../sign/ledger.ts'

export interface SqliteLedger extends LastingLedger {
  /** After what was being recorded; nothing can be recorded any more. */
  close(): void
}

export interface SqliteLedgerOptions {
  /** Created with mode 0600 when it is not there. The data directory's lock keeps other processes away. */
  path: string
  clock: Clock
  log: Log
}

interface Waiting {
  entry: LedgerEntry
  resolve(): void
  reject(error: Error): void
}

/** Serial numbers are unique to their CA only (RFC 5280 section 4.1.2.2). */
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

/**
 * The ledger of leaves of the embedded control plane, in a file of its own. When `record` resolves the leaf is on the disk
 * and outlives a kill; leaves recorded in the same turn share one transaction. Throws, and `record` rejects with,
 * RollcallError STORAGE_FAILED.
 */
export function openSqliteLedger({ path, clock, log }: SqliteLedgerOptions): SqliteLedger {
  const database = open(path)
  const insert = database.prepare(
    'INSERT OR IGNORE INTO leaves (ca, serial, not_after, leaf) VALUES (?, ?, ?, ?)',
  )
  const prune = database.prepare('DELETE FROM leaves WHERE not_after < ?')
  const living = database.prepare('SELECT serial, leaf FROM leaves WHERE not_after > ?')
  let waiting: Waiting[] = []

  function flush(): void {
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    try {
      commit(batch.map(({ entry }) => entry))
    } catch (error) {
      for (const { reject } of batch) reject(storageFailed(path, error))
      return
    }
    for (const { resolve } of batch) resolve()
  }

  function commit(entries: readonly LedgerEntry[]): void {
    database.exec('BEGIN IMMEDIATE')
    try {
      prune.run(forgottenBefore(clock.now()))
      for (const entry of entries)
        insert.run(entry.issuerFingerprint, entry.serialNumber, entry.notAfter, encodeLeaf(entry))
      database.exec('COMMIT')
    } catch (error) {
      // SQLite has rolled back by itself after some errors (disk full), not after others.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  async function* read(): AsyncGenerator<Leaf> {
    for (const { serial, leaf: line } of living.all(clock.now())) {
      const leaf = decodeLeaf(String(serial), String(line))
      if (leaf) yield leaf
      else log.error('a line of the ledger cannot be read', { path, serial })
    }
  }

  return {
    record: entry =>
      new Promise((resolve, reject) => {
        if (waiting.push({ entry, resolve, reject }) === 1) setImmediate(flush)
      }),
    issued: { [Symbol.asyncIterator]: read },
    close() {
      flush()
      database.close()
    },
  }
}

function open(path: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    closeSync(openSync(path, 'a', 0o600))
    const missing = missingPages(path)
    if (missing) throw new Error(`the database is damaged: ${missing}`)
    const wasLeftOpen = logSize(path) > 0
    database = new DatabaseSync(path)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;')
    if (wasLeftOpen) requireWhole(database)
    database.exec(schema)
    return database
  } catch (error) {
    database?.close()
    throw storageFailed(path, error)
  }
}

/** Reads all of it, so only when the last process did not close it. */
function requireWhole(database: DatabaseSync): void {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
  if (found !== 'ok') throw new Error(`the database is damaged: ${String(found).replaceAll('\n', ' ')}`)
}

function storageFailed(path: string, error: unknown): RollcallError {
  const why = error instanceof Error ? error.message : String(error)
  const advice = /malformed|damaged|not a database/.test(why)
    ? 'move it away to go on without it: certificates are then known only as long as their requests, and what node holds which address is forgotten'
    : 'check free space and that the disk can be written'
  return new RollcallError('STORAGE_FAILED', `${path}: ${why}; ${advice}`, { path }, { cause: error })
}
