import type { Clock, Disk, Log, Timer } from '../../ports.ts'

/** The kubelet's containerLogMaxSize and containerLogMaxFiles: bytes, and files with the present one. */
const mostBytes = 10 * 1024 * 1024
const mostFiles = 5
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
 * anew, it is copied and emptied; what is written between the two is lost.
 */
export class LogRotation {
  readonly #options: LogRotationOptions
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: LogRotationOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = this.#options.clock.after(interval, () => {
      this.#looking = this.#look().finally(() => {
        if (!this.#stopped) this.start()
      })
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { paths, disk, log, reopen } = this.#options
    for (const path of paths()) {
      try {
        if ((await disk.stat(path)).size > mostBytes) await rotate(path, disk, reopen)
      } catch (error) {
        log.warn('the log of a static pod cannot be rotated', { path, error: String(error) })
      }
    }
  }
}

async function rotate(path: string, disk: Disk, reopen: LogRotationOptions['reopen']): Promise<void> {
  const kept = new Set(await disk.list(path.slice(0, path.lastIndexOf('/'))))
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
  await disk.write(`${path}.1`, await disk.read(path), { mode: 0o640 })
  await disk.write(path, '', { mode: 0o640 })
}
