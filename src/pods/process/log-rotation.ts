import type { Clock, Disk, Log, Timer } from '../../ports.ts'

/** The kubelet's containerLogMaxSize and containerLogMaxFiles: bytes, and files with the present one. */
const mostBytes = 10 * 1024 * 1024
const mostFiles = 5
/** Milliseconds between two looks. */
const interval = 10_000

export interface LogRotationOptions {
  /** Logs that are written to now. */
  paths(): readonly string[]
  disk: Disk
  clock: Clock
  log: Log
}

/**
 * Keeps the logs of processes from filling the disk: N.log goes to N.log.1 and so on. The process holds its log open, so
 * it is copied and emptied; what is written between the two is lost.
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
    const { paths, disk, log } = this.#options
    for (const path of paths()) {
      try {
        if ((await disk.stat(path)).size > mostBytes) await rotate(path, disk)
      } catch (error) {
        log.warn('the log of a static pod cannot be rotated', { path, error: String(error) })
      }
    }
  }
}

async function rotate(path: string, disk: Disk): Promise<void> {
  const kept = new Set(await disk.list(path.slice(0, path.lastIndexOf('/'))))
  const name = path.slice(path.lastIndexOf('/') + 1)
  for (let n = mostFiles - 2; n >= 1; n--) {
    if (kept.has(`${name}.${n}`)) await disk.rename(`${path}.${n}`, `${path}.${n + 1}`)
  }
  await disk.write(`${path}.1`, await disk.read(path), { mode: 0o640 })
  await disk.write(path, '', { mode: 0o640 })
}
