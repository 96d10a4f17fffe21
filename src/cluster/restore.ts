/** Puts what `backUp` wrote in the place of what is there. No server may use the folder. */
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Copy, keepReplaced, restoreDatabase } from '../apiserver/storage/sqlite-backup.ts'
import { RollcallError } from '../errors.ts'
import { makeFolders } from '../host/make-folders.ts'
import { countLeaves, decisionLogsIn, keyFolders, publicAndKeyFiles } from './backup.ts'
import type { DataDirectory } from './data-directory.ts'

export interface Restored {
  state: Copy
  /** Certificates in the ledger; undefined: the backup has none, and what was there stays. */
  leaves: number | undefined
  /** Files of pki/ and ca/ that were put in place; what was there already stays. */
  files: number
  /** Whether the CA's key is there now. With the certificate alone no server starts. */
  hasCaKey: boolean
}

/**
 * `from`: the folder, or a state database alone. Nothing is changed when the CA that is there is another than the backup's
 * (KEY_MISMATCH), or a part is damaged or not there (STORAGE_FAILED). Databases and logs that are replaced are kept as
 * `….replaced`.
 */
export function restore(from: string, directory: DataDirectory): Restored {
  const { root, database, ledger } = directory
  if (!existsSync(from) || statSync(from).isFile())
    return { state: restoreDatabase(from, database), leaves: undefined, files: 0, hasCaKey: hasCaKey(root) }
  requireSameCa(from, root)
  const ledgerCopy = join(from, basename(ledger))
  const leaves = existsSync(ledgerCopy) ? examined(ledgerCopy) : undefined
  const state = restoreDatabase(join(from, basename(database)), database)
  if (leaves !== undefined) replace(ledgerCopy, ledger)
  restoreDecisions(from, root)
  return { state, leaves, files: restoreFiles(from, root), hasCaKey: hasCaKey(root) }
}

const hasCaKey = (root: string) => existsSync(join(root, 'pki', 'ca.key'))

function requireSameCa(from: string, root: string): void {
  const [theirs, ours] = [from, root].map(folder => join(folder, 'pki', 'ca.crt'))
  if (!theirs || !ours || !existsSync(theirs) || !existsSync(ours)) return
  if (readFileSync(theirs, 'utf8') === readFileSync(ours, 'utf8')) return
  const text = `${ours} is another CA than that of the backup: restore into an empty folder, or move pki/ and ca/ away`
  throw new RollcallError('KEY_MISMATCH', text, { path: ours })
}

function examined(path: string): number {
  try {
    return countLeaves(path)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new RollcallError('STORAGE_FAILED', `${path}: ${why}`, { path }, { cause: error })
  }
}

/** At every moment either the old or the new database is there. */
function replace(copy: string, path: string): void {
  const partial = `${path}.restoring`
  rmSync(partial, { force: true })
  writeFileSync(partial, '', { mode: 0o600, flag: 'wx' })
  copyFileSync(copy, partial)
  keepReplaced(path)
  renameSync(partial, path)
}

/** The backup's chain in the place of the one that is there: both in one folder would be no chain. */
function restoreDecisions(from: string, root: string): void {
  const logs = decisionLogsIn(from)
  if (logs.length === 0) return
  for (const name of decisionLogsIn(root)) renameSync(join(root, name), join(root, `${name}.replaced`))
  for (const name of logs) putIfMissing(join(from, name), join(root, name))
}

function restoreFiles(from: string, root: string): number {
  for (const folder of keyFolders) makeFolders(join(root, folder), 0o700)
  return publicAndKeyFiles(from).filter(name => putIfMissing(join(from, name), join(root, name))).length
}

function putIfMissing(from: string, to: string): boolean {
  if (existsSync(to)) return false
  writeFileSync(to, readFileSync(from), { mode: 0o600, flag: 'wx', flush: true })
  return true
}
