import { accessSync, chmodSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { RollcallError, systemCode } from '../errors.ts'
import { makeFolders } from '../host/make-folders.ts'

/** The files of `--dir`. All paths are absolute. */
export interface DataDirectory {
  root: string
  database: string
  /** Every certificate that was signed and has not ended. */
  ledger: string
  adminKubeconfig: string
  bootstrapKubeconfig: string
  pki: string
  nodes: string
  auditLog: string
  /** What was decided about requests: one chain of hashes. */
  decisionLog: string
  /** Holds process id and number of nodes of the fleet, for the demos. */
  fleetProcess: string
  /** Releases the lock. */
  release(): void
}

/** Paths below `--dir` without holding it: for commands that act on a running `up`. */
export function dataDirectoryPaths(directory: string): Omit<DataDirectory, 'release'> {
  const root = resolve(directory)
  return {
    root,
    database: join(root, 'state.db'),
    ledger: join(root, 'ledger.db'),
    adminKubeconfig: join(root, 'admin.kubeconfig'),
    bootstrapKubeconfig: join(root, 'bootstrap.kubeconfig'),
    pki: join(root, 'pki'),
    nodes: join(root, 'nodes'),
    auditLog: join(root, 'audit.log'),
    decisionLog: join(root, 'decisions.log'),
    fleetProcess: join(root, 'fleet.pid'),
  }
}

function unusable(root: string, error: unknown): RollcallError {
  const why = {
    EACCES: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EEXIST: 'it, or a folder above it, is a file',
    ENOTDIR: 'it, or a folder above it, is a file',
    ENOENT: 'it cannot be created there',
  }[systemCode(error) ?? '']
  const text = why ?? (error instanceof Error ? error.message : String(error))
  return new RollcallError(
    'DIRECTORY_UNUSABLE',
    `Cannot use the data directory ${root}: ${text}. Give a writable one with --dir.`,
    { root },
    { cause: error },
  )
}

/**
 * Creates `--dir` (0700) and takes its lock. The lock is an exclusive SQLite transaction on the file `lock`: the
 * kernel drops it with the process, so a killed process leaves nothing to clean up.
 * Throws DIRECTORY_IN_USE, or DIRECTORY_UNUSABLE when it cannot be written.
 */
export function openDataDirectory(directory: string): DataDirectory {
  const paths = dataDirectoryPaths(directory)
  try {
    makeFolders(paths.root, 0o700)
    chmodSync(paths.root, 0o700)
    accessSync(paths.root, constants.W_OK)
    for (const folder of [paths.pki, paths.nodes]) makeFolders(folder, 0o700)
  } catch (error) {
    throw unusable(paths.root, error)
  }
  const lock = takeLock(paths.root)
  return { ...paths, release: () => lock.close() }
}

function takeLock(root: string): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(root, 'lock'))
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    if (error instanceof Error && /database is locked/.test(error.message)) {
      throw new RollcallError(
        'DIRECTORY_IN_USE',
        `Another rollcall process holds ${root}; stop it or give another --dir.`,
        { root },
        { cause: error },
      )
    }
    throw unusable(root, error)
  }
}
