/**
 * A backup of `--dir` is a folder of the same names: the state database, the ledger, the decision log, and of pki/ and ca/
 * what is public; keys only when they are asked for. Taken while a server runs.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { backupDatabase, type Copy, copyDatabase } from '../apiserver/storage/sqlite-backup.ts'
import { RollcallError, systemCode } from '../errors.ts'
import type { DataDirectory } from './data-directory.ts'

export interface Backup {
  state: Copy
  /** Certificates in the ledger; undefined: there is no ledger. */
  leaves: number | undefined
  /** Files of the decision log. */
  decisionLogs: number
  /** Files with private keys that are in it, and that were left out. */
  keys: { copied: number; leftOut: number }
}

type Paths = Omit<DataDirectory, 'release'>

/** The folders whose files are certificates, keys, and what belongs to them. */
export const keyFolders = ['pki', 'ca'] as const
/** What agents pin. */
export const trustRootsFile = 'trust-roots'
const privateKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/**
 * Throws STORAGE_FAILED when something cannot be read or written, or `target` is there already; what was begun is then
 * removed. The state comes first: what the ledger and the decision log say beyond it is no contradiction, the reverse is.
 */
export function backUp(paths: Paths, target: string, { withKeys = false } = {}): Backup {
  try {
    mkdirSync(target, { mode: 0o700 })
  } catch (error) {
    const why = { EEXIST: 'is there already; give another name with --to' }[systemCode(error) ?? '']
    throw unwritable(target, why ?? String(error), error)
  }
  try {
    chmodSync(target, 0o700)
    const state = backupDatabase(paths.database, join(target, basename(paths.database)))
    const leaves = existsSync(paths.ledger)
      ? copyDatabase(paths.ledger, join(target, basename(paths.ledger)), countLeaves)
      : undefined
    const decisionLogs = decisionLogsIn(paths.root)
    for (const name of decisionLogs) put(join(target, name), wholeLines(readFileSync(join(paths.root, name))))
    const keys = copyFiles(paths.root, target, withKeys)
    for (const folder of ['', ...keyFolders]) syncFolder(join(target, folder))
    return { state, leaves, decisionLogs: decisionLogs.length, keys }
  } catch (error) {
    rmSync(target, { recursive: true, force: true })
    if (error instanceof RollcallError) throw error
    throw unwritable(target, String(error), error)
  }
}

/** Names of the log's files, the oldest first. */
export function decisionLogsIn(root: string): string[] {
  const full = readdirSync(root).filter(name => /^decisions\.\d{12,}\.log$/.test(name))
  return [...full.sort(), ...(existsSync(join(root, 'decisions.log')) ? ['decisions.log'] : [])]
}

function copyFiles(root: string, target: string, withKeys: boolean): Backup['keys'] {
  const keys = { copied: 0, leftOut: 0 }
  for (const folder of keyFolders) mkdirSync(join(target, folder), { mode: 0o700 })
  for (const name of publicAndKeyFiles(root)) {
    const bytes = readFileSync(join(root, name))
    const isKey = name.endsWith('.key') || privateKey.test(bytes.toString('latin1'))
    if (isKey && !withKeys) keys.leftOut += 1
    else put(join(target, name), bytes)
    if (isKey && withKeys) keys.copied += 1
  }
  return keys
}

/** Below `root`, without what a write under way has not finished. */
export function publicAndKeyFiles(root: string): string[] {
  const inFolders = keyFolders.flatMap(folder =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { withFileTypes: true })
          .filter(entry => entry.isFile() && !entry.name.endsWith('.new'))
          .map(({ name }) => join(folder, name))
      : [],
  )
  // The decision log's own key lies beside it.
  const beside = [trustRootsFile, 'decisions.log.key'].filter(name => existsSync(join(root, name)))
  return [...inFolders, ...beside]
}

/** A line that is being written is not in the copy. */
function wholeLines(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(10) + 1)
}

function put(path: string, bytes: Uint8Array): void {
  writeFileSync(path, bytes, { mode: 0o600, flag: 'wx', flush: true })
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Throws when the file is no whole ledger. */
export function countLeaves(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const { integrity_check: found } = database.prepare('PRAGMA integrity_check(1)').get() ?? {}
    if (found !== 'ok') throw new Error(`the ledger is damaged: ${String(found)}`)
    return Number(database.prepare('SELECT count(*) AS leaves FROM leaves').get()?.leaves ?? 0)
  } finally {
    database.close()
  }
}

function unwritable(path: string, why: string, cause: unknown): RollcallError {
  return new RollcallError('STORAGE_FAILED', `${path}: ${why}`, { path }, { cause })
}
