import { type Clock, type Disk, type Log, sleep, type Timer } from '../../ports.ts'

/** A run that still goes on, and the folder in which its shim will leave how it ended. */
export interface AdoptedRun {
  id: string
  folder: string
}

export interface AdoptedRunsOptions {
  disk: Disk
  clock: Clock
  /** Those whose end nobody tells us. */
  running(): readonly AdoptedRun[]
  /** Finds out whether it has ended. Rejects where the disk does not tell. */
  look(id: string): Promise<void>
  log: Log
}

/** Milliseconds between two looks; longer where the disk tells of the end, and only KILL for the shim itself is missed. */
const poll = 2000
const pollBesideWatch = 20_000
/** Milliseconds from what the shim wrote to looks whether it is gone: it ends itself after that. */
const afterExit = [20, 200, 1000]

/** Follows processes whose end nobody tells us, mostly since an earlier agent started them: they end by a file in their folder. */
export class AdoptedRuns {
  readonly #options: AdoptedRunsOptions
  readonly #watches = new Map<string, { close(): void }>()
  readonly #ending = new Set<string>()
  readonly #closing = new AbortController()
  #timer: Timer | undefined

  constructor(options: AdoptedRunsOptions) {
    this.#options = options
  }

  /** From now on, and again until none is left. */
  follow(): void {
    this.#timer?.cancel()
    const runs = this.#closing.signal.aborted ? [] : this.#options.running()
    const ids = new Set(runs.map(({ id }) => id))
    for (const id of [...this.#watches.keys()]) if (!ids.has(id)) this.#unwatch(id)
    for (const run of runs) if (!this.#watches.has(run.id)) this.#watch(run)
    if (runs.length === 0) return
    const wait = runs.every(({ id }) => this.#watches.has(id)) ? pollBesideWatch : poll
    this.#timer = this.#options.clock.after(wait, () => {
      void Promise.all(runs.map(({ id }) => this.look(id))).then(() => this.follow())
    })
  }

  /** Looks at one now. Where the disk does not tell, that is said, and it is looked again later. */
  async look(id: string): Promise<void> {
    try {
      await this.#options.look(id)
    } catch (error) {
      this.#options.log.warn('a process of a static pod cannot be looked at', { id, error: String(error) })
      this.follow()
    }
  }

  close(): void {
    this.#closing.abort()
    this.#timer?.cancel()
    for (const id of [...this.#watches.keys()]) this.#unwatch(id)
  }

  #watch({ id, folder }: AdoptedRun): void {
    const watch = this.#options.disk.watch?.(
      folder,
      () => void this.#ends(id),
      () => {
        this.#unwatch(id)
        void this.#ends(id)
      },
    )
    if (watch) this.#watches.set(id, watch)
  }

  async #ends(id: string): Promise<void> {
    if (this.#ending.has(id)) return
    this.#ending.add(id)
    const { clock, running } = this.#options
    const { signal } = this.#closing
    for (const wait of afterExit) {
      await sleep(clock, wait, signal)
      if (signal.aborted || !running().some(run => run.id === id)) break
      await this.look(id)
    }
    this.#ending.delete(id)
  }

  #unwatch(id: string): void {
    this.#watches.get(id)?.close()
    this.#watches.delete(id)
  }
}
