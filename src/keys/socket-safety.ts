import { systemCode } from '../errors.ts'
import type { Disk, FileStat } from '../ports.ts'

/**
 * Why a unix socket may not be trusted: whoever can put another one in its place could hand the node a credential, and a
 * cluster, of his own. Socket and folders must belong to root or one of `owners`, and no folder above it may be writable
 * by others (one with the sticky bit may). undefined: it may be used.
 */
export async function socketProblem(
  path: string,
  owners: readonly number[],
  disk: Disk,
): Promise<{ missing: boolean; message: string } | undefined> {
  const parts = path.split('/').slice(1)
  if (!path.startsWith('/') || parts.some(part => ['', '.', '..'].includes(part)))
    return { missing: false, message: 'is no plain absolute path' }
  for (let depth = 0; depth <= parts.length; depth++) {
    const at = `/${parts.slice(0, depth).join('/')}`
    let found: FileStat
    try {
      found = await disk.stat(at)
    } catch (error) {
      const code = systemCode(error)
      if (code === undefined) throw error
      return {
        missing: code === 'ENOENT',
        message: code === 'ENOENT' ? `${at} is not there yet` : `${at}: ${code}`,
      }
    }
    const why = depth === parts.length ? socketFault(found, owners) : folderFault(found, owners)
    if (why) return { missing: false, message: `${at} ${why}` }
  }
  return undefined
}

/** The same of a folder that a socket is to be served in: who can replace the folder can answer in our place. */
export async function folderProblem(
  path: string,
  owners: readonly number[],
  disk: Disk,
): Promise<string | undefined> {
  const parts = path.split('/').slice(1)
  for (let depth = 0; depth <= parts.length; depth++) {
    const at = `/${parts.slice(0, depth).join('/')}`
    const why = folderFault(await disk.stat(at), owners)
    if (why) return `${at} ${why}`
  }
  return undefined
}

function socketFault(found: FileStat, owners: readonly number[]): string | undefined {
  if (found.special !== 'socket') return `is no socket but a ${found.special ?? found.kind}`
  return ownerFault(found, owners)
}

function folderFault(found: FileStat, owners: readonly number[]): string | undefined {
  if (found.kind === 'symlink') return 'is a symlink; give the path it leads to'
  if (found.kind !== 'directory') return 'is no folder'
  if ((found.mode & 0o022) !== 0 && !found.sticky) return 'can be written by others than its owner'
  return ownerFault(found, owners)
}

function ownerFault({ owner }: FileStat, owners: readonly number[]): string | undefined {
  return owner === 0 || owners.includes(owner) ? undefined : `belongs to user ${owner}`
}
