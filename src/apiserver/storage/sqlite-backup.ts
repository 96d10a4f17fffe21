/** Copies of the state database: taken while a server runs, and put in the place of what is there. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RollcallError } from '../../errors.ts'
import { missingPages } from './sqlite-damage.ts'
import { lockDatabase } from './sqlite-lock.ts'

export interface Copy {
  revision: number
  /** Stored objects. */
  objects: number
}

/**
 * Added to the revision by a restore (etcd's advice for the same): clients that have seen revisions after the backup are
 * then told to list again, instead of waiting for a past that comes a second time.
 */
const REVISION_BUMP = 1_000_000_000

const failed = (path: string, why: unknown) =>
  new RollcallError('STORAGE_FAILED', `${path}: ${why instanceof Error ? why.message : String(why)}`, {
    path,
  })

/**
 * Writes what the state database at `path` holds now to the new file `target` (0600), all of it or nothing; a server may
 * run on it meanwhile. Throws STORAGE_FAILED.
 */
export function backupDatabase(path: string, target: string): Copy {
  return copyDatabase(path, target, examine)
}

/** The same for any database; `judge` looks at the copy before it gets its name. Throws STORAGE_FAILED. */
export function copyDatabase<T>(path: string, target: string, judge: (copy: string) => T): T {
  if (!existsSync(path)) throw failed(path, 'there is no such database')
  if (existsSync(target)) throw failed(target, 'the file is there already; give another name with --to')
  const partial = `${target}.partial`
  try {
    rmSync(partial, { force: true })
    // It holds Secrets: 0600 from its first byte.
    writeFileSync(partial, '', { mode: 0o600, flag: 'wx' })
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      database.exec('PRAGMA busy_timeout = 10000')
      database.prepare('VACUUM INTO ?').run(partial)
    } finally {
      database.close()
    }
    const judged = judge(partial)
    sync(partial)
    renameSync(partial, target)
    sync(dirname(target))
    return judged
  } catch (error) {
    rmSync(partial, { force: true })
    throw error instanceof RollcallError ? error : failed(path, error)
  }
}

/**
 * Puts a backup in the place of the database at `path`, which no server may use: DIRECTORY_IN_USE. What was there is kept
 * as `path` + `.replaced`. At every moment either the old or the new database is there. Throws STORAGE_FAILED.
 */
export function restoreDatabase(backup: string, path: string): Copy {
  const { revision, objects } = examine(backup)
  const lock = lockOrExplain(path)
  const partial = `${path}.restoring`
  try {
    rmSync(partial, { force: true })
    writeFileSync(partial, '', { mode: 0o600, flag: 'wx' })
    copyFileSync(backup, partial)
    const next = Math.max(revision, lastRevision(path)) + REVISION_BUMP
    advance(partial, next)
    sync(partial)
    keepReplaced(path)
    renameSync(partial, path)
    sync(dirname(path))
    return { revision: next, objects }
  } catch (error) {
    rmSync(partial, { force: true })
    throw error instanceof RollcallError ? error : failed(path, error)
  } finally {
    lock.release()
  }
}

/** Throws STORAGE_FAILED when the file is not a whole copy of a state database. */
function examine(path: string): Copy {
  if (!existsSync(path)) throw failed(path, 'there is no such file')
  const missing = missingPages(path)
  if (missing) throw failed(path, `the backup is damaged: ${missing}`)
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true })
    const { integrity_check: found } = database.prepare('PRAGMA integrity_check(1)').get() ?? {}
    if (found !== 'ok') throw new Error(`the backup is damaged: ${String(found)}`)
    const { user_version: version } = database.prepare('PRAGMA user_version').get() ?? {}
    if (version !== 1) throw new Error('the file is not a state database of this version of rollcall')
    const { revision } = database.prepare('SELECT revision FROM last').get() ?? {}
    const { objects } = database.prepare('SELECT count(*) AS objects FROM entries').get() ?? {}
    return { revision: Number(revision), objects: Number(objects) }
  } catch (error) {
    throw failed(path, error)
  } finally {
    database?.close()
  }
}

function lockOrExplain(path: string): { release(): void } {
  try {
    return lockDatabase(path)
  } catch (error) {
    throw error instanceof Error && /database is locked/.test(error.message)
      ? new RollcallError('DIRECTORY_IN_USE', `${path} is open in another process; stop it first`, { path })
      : failed(path, error)
  }
}

/** Of the database that is to be replaced; 0 when there is none or it cannot be read, which may be why it is replaced. */
function lastRevision(path: string): number {
  if (!existsSync(path)) return 0
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    // Also brings its log into it, so that one file is all of it.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return Number(database.prepare('SELECT revision FROM last').get()?.revision ?? 0)
  } catch {
    return 0
  } finally {
    database?.close()
  }
}

function advance(path: string, revision: number): void {
  const database = new DatabaseSync(path)
  try {
    // As one file, so that a rename puts all of it in place.
    database.exec('PRAGMA journal_mode = DELETE')
    database.prepare('UPDATE last SET revision = ?').run(revision)
  } finally {
    database.close()
  }
}

/** The old database gets a second name; its log, which belongs to it alone, must not stay beside the new one. */
export function keepReplaced(path: string): void {
  const replaced = `${path}.replaced`
  for (const suffix of ['', '-wal', '-shm']) rmSync(replaced + suffix, { force: true })
  if (existsSync(path)) linkSync(path, replaced)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${replaced}-wal`)
  rmSync(`${path}-shm`, { force: true })
}

/** Brings bytes, or the names in a folder, onto the disk. */
function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
