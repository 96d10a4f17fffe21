import type { Clock, Disk, FileStat } from '../../ports.ts'
import {
  type DirectoryNode,
  emptyTree,
  type FileNode,
  fileError,
  locate,
  type TreeNode,
} from './file-tree.ts'
import type { SeededRandom } from './random.ts'

/** One change of a name in a folder that is not yet on the platter. */
interface NameChange {
  /** Monotonic time of the change, in milliseconds. */
  at: number
  directories: readonly DirectoryNode[]
  undo(): void
}

/** Linux writes the journal every 5 s (ext4 `commit=5`) and dirty pages after 30 s, whether or not anybody asks. */
const JOURNAL_COMMIT_MS = 5_000
const WRITEBACK_MS = 30_000

/** What goes wrong with a disk; a scenario sets and clears it. */
export interface DiskFaults {
  /** Writes fail with ENOSPC; a file that was to be overwritten is then empty, as open(O_TRUNC) leaves it. */
  full: boolean
  /** Every change fails with EROFS. */
  readOnly: boolean
}

/**
 * The disk of one machine: all calls take effect at once, in the order they come. `crash` takes back what a power cut
 * may take back: names change in a journal of which only a beginning survives (as on ext4 and xfs), file contents that
 * were not synced survive whole, torn or not at all. `processDisk` (machine.ts) gives it to a process with latency.
 */
export class MachineDisk {
  readonly faults: DiskFaults = { full: false, readOnly: false }
  readonly #random: SeededRandom
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>
  readonly #root: DirectoryNode = emptyTree()
  #journal: NameChange[] = []
  /** Files with contents that are not on the platter yet, and since when. */
  readonly #unsynced = new Map<FileNode, number>()

  constructor(random: SeededRandom, clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#random = random
    this.#clock = clock
  }

  read(path: string): Uint8Array {
    const { node } = locate(this.#root, path, true, 'open')
    if (!node) throw fileError('ENOENT', 'open', path)
    if (node.kind !== 'file') throw fileError('EISDIR', 'read', path)
    return node.data.slice()
  }

  write(
    path: string,
    data: Uint8Array | string,
    options: { mode: number; exclusive?: boolean; sync?: boolean },
  ): void {
    // O_EXCL does not follow a link at the end: it is there, so EEXIST (open(2)).
    const place = locate(this.#root, path, !options.exclusive, 'open')
    if (place.node?.kind === 'directory') throw fileError('EISDIR', 'open', path)
    if (options.exclusive && place.node) throw fileError('EEXIST', 'open', path)
    this.#requireWritable('open', path)
    let file = place.node
    if (file?.kind !== 'file') {
      // A full disk often has room for one more name: then the file is there, and empty.
      if (this.faults.full && this.#random.chance(0.5)) throw fileError('ENOSPC', 'open', path)
      file = { kind: 'file', mode: options.mode, modified: 0, data: new Uint8Array(), durable: undefined }
      this.#setName(place.directory, place.name, file)
    }
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data.slice()
    file.modified = this.#clock.now()
    file.data = new Uint8Array()
    this.#unsynced.set(file, this.#clock.monotonic())
    if (this.faults.full && bytes.length > 0) {
      file.data = bytes.slice(0, this.#random.integer(0, bytes.length - 1))
      throw fileError('ENOSPC', 'write', path)
    }
    file.data = bytes
    if (options.sync) {
      file.durable = bytes
      this.#unsynced.delete(file)
    }
  }

  rename(from: string, to: string): void {
    const source = locate(this.#root, from, false, 'rename')
    const target = locate(this.#root, to, false, 'rename')
    if (!source.node) throw fileError('ENOENT', 'rename', from)
    if (source.node === target.node) return
    if (target.node?.kind === 'directory') {
      if (source.node.kind !== 'directory') throw fileError('EISDIR', 'rename', to)
      if (target.node.entries.size > 0) throw fileError('ENOTEMPTY', 'rename', to)
    } else if (target.node && source.node.kind === 'directory') throw fileError('ENOTDIR', 'rename', to)
    this.#requireWritable('rename', from)
    this.#change(
      [source.directory, target.directory],
      [
        [source.directory, source.name, undefined],
        [target.directory, target.name, source.node],
      ],
    )
  }

  symlink(target: string, path: string): void {
    const place = locate(this.#root, path, false, 'symlink')
    if (place.node) throw fileError('EEXIST', 'symlink', path)
    this.#requireWritable('symlink', path)
    if (this.faults.full && this.#random.chance(0.5)) throw fileError('ENOSPC', 'symlink', path)
    this.#setName(place.directory, place.name, {
      kind: 'symlink',
      mode: 0o777,
      modified: this.#clock.now(),
      target,
    })
  }

  readlink(path: string): string {
    const { node } = locate(this.#root, path, false, 'readlink')
    if (!node) throw fileError('ENOENT', 'readlink', path)
    if (node.kind !== 'symlink') throw fileError('EINVAL', 'readlink', path)
    return node.target
  }

  remove(path: string): void {
    let place: ReturnType<typeof locate>
    try {
      place = locate(this.#root, path, false, 'unlink')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw error
    }
    if (!place.node) return
    if (place.node.kind === 'directory') throw fileError('EISDIR', 'unlink', path)
    this.#requireWritable('unlink', path)
    this.#setName(place.directory, place.name, undefined)
  }

  list(directory: string): string[] {
    const { node } = locate(this.#root, directory, true, 'scandir')
    if (!node) throw fileError('ENOENT', 'scandir', directory)
    if (node.kind !== 'directory') throw fileError('ENOTDIR', 'scandir', directory)
    return [...node.entries.keys()].sort()
  }

  stat(path: string): FileStat {
    const { node } = locate(this.#root, path, false, 'lstat')
    if (!node) throw fileError('ENOENT', 'lstat', path)
    const size = node.kind === 'file' ? node.data.length : node.kind === 'symlink' ? node.target.length : 4096
    return { kind: node.kind, mode: node.mode, size, modified: node.modified, owner: 0 }
  }

  makeDirectory(path: string, mode: number): void {
    const names = path.split('/').filter(name => name !== '' && name !== '.')
    for (let depth = 1; depth <= names.length; depth += 1) {
      const part = `/${names.slice(0, depth).join('/')}`
      const place = locate(this.#root, part, true, 'mkdir')
      if (place.node?.kind === 'directory') continue
      if (place.node) throw fileError(depth === names.length ? 'EEXIST' : 'ENOTDIR', 'mkdir', path)
      this.#requireWritable('mkdir', path)
      if (this.faults.full) throw fileError('ENOSPC', 'mkdir', path)
      const made: DirectoryNode = { kind: 'directory', mode, modified: this.#clock.now(), entries: new Map() }
      this.#setName(place.directory, place.name, made)
    }
  }

  syncDirectory(path: string): void {
    const { node } = locate(this.#root, path, true, 'open')
    if (!node) throw fileError('ENOENT', 'open', path)
    if (node.kind !== 'directory') throw fileError('ENOTDIR', 'fsync', path)
    // The journal is written in order: with the folder's last change, all earlier ones are on the platter.
    const last = this.#journal.findLastIndex(change => change.directories.includes(node))
    this.#journal = this.#journal.slice(last + 1)
  }

  /** A power cut: what was not synced survives by chance. Tells what was lost, for the digest. */
  crash(): { namesLost: number; filesLost: number } {
    this.#writeBack()
    const kept = this.#random.integer(0, this.#journal.length)
    const lost = this.#journal.slice(kept)
    for (const change of lost.reverse()) change.undo()
    this.#journal = []
    let filesLost = 0
    for (const file of this.#unsynced.keys()) {
      if (this.#random.chance(0.5)) {
        file.durable = file.data
        continue
      }
      filesLost += 1
      const torn = this.#random.chance(0.3)
      file.data = torn
        ? file.data.slice(0, this.#random.integer(0, file.data.length))
        : (file.durable ?? new Uint8Array())
      file.durable = file.data
    }
    this.#unsynced.clear()
    return { namesLost: lost.length, filesLost }
  }

  /** What the operating system has written by itself in the meantime. */
  #writeBack(): void {
    const now = this.#clock.monotonic()
    this.#journal = this.#journal.filter(change => change.at > now - JOURNAL_COMMIT_MS)
    for (const [file, since] of this.#unsynced) {
      if (since > now - WRITEBACK_MS) continue
      file.durable = file.data
      this.#unsynced.delete(file)
    }
  }

  #requireWritable(call: string, path: string): void {
    if (this.faults.readOnly) throw fileError('EROFS', call, path)
  }

  #setName(directory: DirectoryNode, name: string, node: TreeNode | undefined): void {
    this.#change([directory], [[directory, name, node]])
  }

  #change(
    directories: readonly DirectoryNode[],
    names: readonly (readonly [DirectoryNode, string, TreeNode | undefined])[],
  ): void {
    const before = names.map(([directory, name]) => [directory, name, directory.entries.get(name)] as const)
    for (const [directory, name, node] of names) put(directory, name, node)
    if (this.#journal.length > 100) this.#writeBack()
    this.#journal.push({
      at: this.#clock.monotonic(),
      directories,
      undo() {
        for (const [directory, name, node] of before.toReversed()) put(directory, name, node)
      },
    })
  }
}

function put(directory: DirectoryNode, name: string, node: TreeNode | undefined): void {
  if (node) directory.entries.set(name, node)
  else directory.entries.delete(name)
}

/** The calls of `disk` as promises, each through `run` (which adds latency, and never settles for a dead process). */
export function asynchronousDisk(disk: MachineDisk, run: <T>(call: () => T) => Promise<T>): Disk {
  return {
    read: path => run(() => disk.read(path)),
    write: (path, data, options) => run(() => disk.write(path, data, options)),
    rename: (from, to) => run(() => disk.rename(from, to)),
    symlink: (target, path) => run(() => disk.symlink(target, path)),
    readlink: path => run(() => disk.readlink(path)),
    remove: path => run(() => disk.remove(path)),
    list: directory => run(() => disk.list(directory)),
    stat: path => run(() => disk.stat(path)),
    makeDirectory: (path, mode) => run(() => disk.makeDirectory(path, mode)),
    syncDirectory: path => run(() => disk.syncDirectory(path)),
  }
}
