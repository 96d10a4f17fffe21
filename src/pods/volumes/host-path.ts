import { RollcallError, systemCode } from '../../errors.ts'
import type { Disk, FileStat } from '../../ports.ts'
import type { HostPathType, StaticPod } from '../pod.ts'

/** More symlinks in a row than anybody makes in earnest. */
const mostLinks = 16

/**
 * Sees to it that the hostPath volumes of a pod are what their types say, and creates what is to be created. Rejects with
 * POD_VOLUME_NOT_READY, which is tried again: a pod may wait for a socket that another one makes.
 */
export async function prepareHostPaths(pod: StaticPod, disk: Disk): Promise<void> {
  for (const { name, hostPath } of pod.spec.volumes ?? []) {
    if (hostPath) await prepare(name, hostPath.path, hostPath.type ?? '', disk)
  }
}

async function prepare(volume: string, path: string, type: HostPathType, disk: Disk): Promise<void> {
  if (type === '') return
  const refuse = (why: string) =>
    new RollcallError(
      'POD_VOLUME_NOT_READY',
      `Volume ${volume}: hostPath ${path} ${why}, and its type is ${type}.`,
    )
  let found: FileStat | undefined
  try {
    found = await follow(path, disk)
    if (!found && type === 'DirectoryOrCreate') return await disk.makeDirectory(path, 0o755)
    if (!found && type === 'FileOrCreate') return await disk.write(path, '', { mode: 0o644, exclusive: true })
  } catch (error) {
    throw refuse(`cannot be used (${systemCode(error) ?? String(error)})`)
  }
  if (!found) throw refuse('is not there')
  if (!fits(found, type)) throw refuse(`is a ${found.special ?? found.kind}`)
}

/** What a path leads to; undefined: nothing. */
async function follow(path: string, disk: Disk): Promise<FileStat | undefined> {
  let at = path
  for (let links = 0; links < mostLinks; links++) {
    let found: FileStat
    try {
      found = await disk.stat(at)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined
      throw error
    }
    if (found.kind !== 'symlink') return found
    const target = await disk.readlink(at)
    at = target.startsWith('/') ? target : `${at.slice(0, at.lastIndexOf('/'))}/${target}`
  }
  return undefined
}

function fits({ kind, special }: FileStat, type: HostPathType): boolean {
  if (type === 'Directory' || type === 'DirectoryOrCreate') return kind === 'directory'
  if (type === 'File' || type === 'FileOrCreate') return kind === 'file'
  const wanted = {
    Socket: 'socket',
    CharDevice: 'character device',
    BlockDevice: 'block device',
    '': undefined,
  }[type]
  return wanted === undefined || special === wanted
}
