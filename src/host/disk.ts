import { readFileSync, watch } from 'node:fs'
import { chown, lstat, open, readdir, readFile, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import type { Disk, FileStat } from '../ports.ts'
import { AppendedFiles } from './appended-files.ts'
import { makeFolders } from './make-folders.ts'

function kindOf(entry: {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}): FileStat['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}

function specialOf(entry: {
  isSocket(): boolean
  isCharacterDevice(): boolean
  isBlockDevice(): boolean
  isFIFO(): boolean
}): FileStat['special'] {
  if (entry.isSocket()) return 'socket'
  if (entry.isCharacterDevice()) return 'character device'
  if (entry.isBlockDevice()) return 'block device'
  return entry.isFIFO() ? 'pipe' : undefined
}

const appended = new AppendedFiles()

/**
 * What the kernel answers from memory and never waits for: read at once, as the threads that files are read on would wake
 * us five times for it. (Other files of /proc/ID, cmdline first, wait for a process that hangs.)
 */
const answeredAtOnce = /^\/proc\/((\d+|self)\/stat|sys\/kernel\/random\/boot_id)$/

export const systemDisk: Disk & Required<Pick<Disk, 'append'>> = {
  read: async path => new Uint8Array(answeredAtOnce.test(path) ? readFileSync(path) : await readFile(path)),
  async readRange(path, offset, length) {
    const file = await open(path, 'r')
    try {
      const buffer = new Uint8Array(length)
      const { bytesRead } = await file.read(buffer, 0, length, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  },
  append: (path, data, { mode, sync }) => appended.append(path, data, mode, sync ?? false),
  async write(path, data, options) {
    const file = await open(path, options.exclusive ? 'wx' : 'w', options.mode)
    try {
      await file.writeFile(data)
      if (options.sync) await file.sync()
    } finally {
      await file.close()
    }
  },
  rename,
  changeOwner: (path, owner, group) => chown(path, owner, group),
  symlink: (target, path) => symlink(target, path),
  readlink: path => readlink(path),
  remove: path => rm(path, { force: true }),
  list: async directory => (await readdir(directory)).sort(),
  async stat(path) {
    const entry = await lstat(path)
    const special = specialOf(entry)
    return {
      kind: kindOf(entry),
      ...(special && { special }),
      mode: entry.mode & 0o777,
      sticky: (entry.mode & 0o1000) !== 0,
      size: entry.size,
      modified: entry.mtimeMs,
      changed: entry.ctimeMs,
      owner: entry.uid,
      group: entry.gid,
    }
  },
  makeDirectory: async (path, mode) => {
    makeFolders(path, mode)
  },
  removeDirectory: path => rmdir(path),
  async syncDirectory(path) {
    const directory = await open(path, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  },
  watch(directory, onChange, onEnd) {
    try {
      const watcher = watch(directory, { persistent: false }, onChange)
      watcher.on('error', () => {
        watcher.close()
        onEnd()
      })
      return watcher
    } catch {
      // Not there yet, or no inotify watch left: the caller looks from time to time instead.
      return undefined
    }
  },
}
