import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { systemCode } from '../errors.ts'

/**
 * Creates the folder and its missing parents, each with `mode`; one that is there keeps its mode. Errors are node:fs's.
 * node's own `recursive: true` never returns where the kernel answers ENOENT although the parent exists (/proc, some
 * network mounts): it takes that for a missing parent for ever.
 */
export function makeFolders(path: string, mode: number): void {
  const folder = resolve(path)
  const missing: string[] = []
  for (let place = folder; !isFolder(place); place = dirname(place)) missing.unshift(place)
  for (const place of missing) {
    try {
      mkdirSync(place, { mode })
    } catch (error) {
      // Somebody else made it in the meantime, which is as good.
      if (systemCode(error) !== 'EEXIST' || !isFolder(place)) throw error
    }
  }
}

/** Whether it is a folder, through symlinks. Throws for what is there and is none. */
function isFolder(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return false
  if (stat.isDirectory()) return true
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' })
}
