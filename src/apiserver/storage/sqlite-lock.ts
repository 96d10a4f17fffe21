import { DatabaseSync } from 'node:sqlite'

/**
 * Makes this process the only one that writes the database, while others may read it (a backup does). The lock is an
 * exclusive transaction on a file beside it, which the kernel ends with the process. Throws when another has it.
 */
export function lockDatabase(path: string): { release(): void } {
  const lock = new DatabaseSync(`${path}-lock`)
  try {
    lock.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    throw error
  }
  return { release: () => lock.close() }
}
