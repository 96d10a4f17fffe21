import { systemCode } from '../../errors.ts'
import type { Clock, Disk, Log, Timer } from '../../ports.ts'

/** The kubelet's containerLogMaxSize and containerLogMaxFiles: bytes, and files with the present one. */
const mostBytes = 10 * 1024 * 1024
const mostFiles = 5
/** Bytes of a log that are copied at most, and at once. */
const mostCopied = 2 * mostBytes
const chunk = 2 ** 20
/** Milliseconds between two looks. */
const interval = 10_000

export interface LogRotationOptions {
  /** Logs that are written to now. */
  paths(): readonly string[]
  /** Has the writer open its log anew. Absent: it cannot, as a process that was given an open file. */
  reopen?(path: string): Promise<void>
  disk: Disk
  clock: Clock
  log: Log
}

/**
 * Keeps the logs of containers from filling the disk: N.log goes to N.log.1 and so on. Where the writer cannot open it
 * anew, it is copied and emptied; what is written between the two is lost. A log that nobody writes to is not looked at
 * again until the disk tells of a change in its folder.
 */
export class LogRotation {
  readonly #options: LogRotationOptions
  /** Sizes at the last look, by path. */
  #sizes: ReadonlyMap<string, number> = new Map()
  /** Watches of the logs that were not written to between two looks, by path. */
  readonly #quiet = new Map<string, { close(): void }>()
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: LogRotationOptions) {
    this.#options = options
  }

  /** Begins, and begins anew: logs may have come or gone. */
  start(): void {
    const isAwake = this.#options.paths().some(path => !this.#quiet.has(path))
    if (this.#stopped || this.#timer || !isAwake) return
    this.#timer = this.#options.clock.after(interval, () => {
      this.#looking = this.#look().finally(() => {
        this.#timer = undefined
        this.start()
      })
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#looking
    for (const path of [...this.#quiet.keys()]) this.#wake(path)
  }

  async #look(): Promise<void> {
    const { paths, log } = this.#options
    const now = new Set(paths())
    for (const path of [...this.#quiet.keys()]) if (!now.has(path)) this.#wake(path)
    const sizes = new Map<string, number>()
    for (const path of now) {
      if (this.#quiet.has(path)) continue
      try {
        sizes.set(path, await this.#lookAt(path))
      } catch (error) {
        this.#wake(path)
        log.warn('the log of a static pod cannot be rotated', { path, error: String(error) })
      }
    }
    this.#sizes = sizes
  }

  /** Resolves with its size. */
  async #lookAt(path: string): Promise<number> {
    const { disk, reopen } = this.#options
    const before = this.#sizes.get(path)
    // Before the look, so that what is written after it is told.
    if (before !== undefined) this.#watch(path)
    const { size } = await disk.stat(path)
    if (size !== before) this.#wake(path)
    if (size > mostBytes) await rotate(path, disk, reopen)
    return size
  }

  #watch(path: string): void {
    const tell = () => {
      this.#wake(path)
      this.start()
    }
    const watch = this.#options.disk.watch?.(folderOf(path), tell, tell)
    if (watch) this.#quiet.set(path, watch)
  }

  #wake(path: string): void {
    this.#quiet.get(path)?.close()
    this.#quiet.delete(path)
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

async function rotate(path: string, disk: Disk, reopen: LogRotationOptions['reopen']): Promise<void> {
  const kept = new Set(await disk.list(folderOf(path)))
  const name = path.slice(path.lastIndexOf('/') + 1)
  for (let n = mostFiles - 2; n >= 1; n--) {
    if (kept.has(`${name}.${n}`)) await disk.rename(`${path}.${n}`, `${path}.${n + 1}`)
  }
  if (reopen) {
    await disk.rename(path, `${path}.1`)
    try {
      await reopen(path)
    } catch (error) {
      // It goes on writing to the file that it has open; that one keeps its name.
      await disk.rename(`${path}.1`, path)
      throw error
    }
    return
  }
  try {
    await copyEnd(path, `${path}.1`, disk)
  } catch (error) {
    if (systemCode(error) !== 'ENOSPC') throw error
    // A full disk is not made emptier by keeping what fills it.
    await disk.remove(`${path}.1`)
  }
  await disk.write(path, '', { mode: 0o640 })
}

/**
 * Copies what may be kept of a log, its end: one that has grown by gigabytes since the last look neither fills the memory
 * nor the disk a second time.
 */
async function copyEnd(from: string, to: string, disk: Disk): Promise<void> {
  const { size } = await disk.stat(from)
  await disk.write(to, '', { mode: 0o640 })
  if (!disk.readRange || !disk.append) return disk.write(to, await disk.read(from), { mode: 0o640 })
  let at = Math.max(0, size - mostCopied)
  while (at < size) {
    const bytes = await disk.readRange(from, at, Math.min(chunk, size - at))
    if (bytes.length === 0) return
    await disk.append(to, bytes, { mode: 0o640 })
    at += bytes.length
  }
}
