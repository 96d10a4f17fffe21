import { posix } from 'node:path'
import { RollcallError } from '../../errors.ts'
import { folderProblem } from '../../keys/socket-safety.ts'
import type { Disk } from '../../ports.ts'
import { takeLock } from './agent-lock.ts'

/** As many links as Linux follows. */
const mostLinks = 40

/**
 * Makes the folder of an agent's state, and this process the one that uses it. What lies there is believed: which processes
 * and pods are ours, to be ended and removed. So nobody but root and `user` may write there, or put another in its place.
 * Rejects with POD_RUNTIME_UNAVAILABLE.
 */
export async function openStateFolder(path: string, user: number, disk: Disk): Promise<void> {
  await disk.makeDirectory(path, 0o700)
  const problem = await stateFolderProblem(path, user, disk)
  if (problem !== undefined)
    throw new RollcallError(
      'POD_RUNTIME_UNAVAILABLE',
      `${problem}; whoever can write there could have any process of this machine ended. Give the state of static pods a folder of its own.`,
    )
  await takeLock(`${path}/agent`, disk)
}

/** Why what lies in the folder may not be believed: others than root and `user` can write there, or put another in its place. */
export async function stateFolderProblem(
  path: string,
  user: number,
  disk: Disk,
): Promise<string | undefined> {
  const real = await realPath(path, disk)
  const { mode } = await disk.stat(real)
  if ((mode & 0o022) !== 0) return `${real} can be written by others than its owner`
  return folderProblem(real, [user], disk)
}

/** The path without links. */
async function realPath(path: string, disk: Disk): Promise<string> {
  let [at, rest] = ['/', posix.resolve(path).split('/').filter(Boolean)]
  for (let links = 0; rest[0] !== undefined; ) {
    const next = posix.join(at, rest[0])
    const { kind } = await disk.stat(next)
    rest = rest.slice(1)
    if (kind !== 'symlink') {
      at = next
      continue
    }
    if (++links > mostLinks) throw Object.assign(new Error(`${path} leads in a circle`), { code: 'ELOOP' })
    const target = posix.resolve(at, await disk.readlink(next))
    rest = [...target.split('/').filter(Boolean), ...rest]
    at = '/'
  }
  return at
}
