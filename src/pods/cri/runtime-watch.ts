import { type Clock, type Disk, type Log, sleep } from '../../ports.ts'
import type { RuntimeCondition } from '../runtime.ts'
import type { Cri } from './cri.ts'
import type { ContainerStatus } from './cri-types.ts'
import { leftovers, nothingRuns, type RuntimeContents, readRuntime } from './read-runtime.ts'
import { foreignPods, kubeletProcess, rivalProblem } from './rival.ts'

export interface RuntimeWatchOptions {
  cri: Cri
  endpoint: string
  /** What the runtime calls itself. */
  name: string
  /** Whose pods are ours. */
  agent: string
  disk: Disk
  clock: Clock
  log: Log
  /** Uids of the pods that have a container on its way. */
  busy(): ReadonlySet<string>
  /** What runs, or the runtime's own state, changed. */
  onChange(): void
}

/** Milliseconds between two looks at what runs; every tenth one also asks how the runtime is. */
const poll = 1000
const looksToStatus = 10
/** Looks until the processes of the machine are gone through for a kubelet; its pods are seen with each look. */
const looksToProcesses = 60

/** What runs in the container runtime, looked at each second and after each change; and what nobody else would tidy up. */
export class RuntimeWatch {
  readonly #options: RuntimeWatchOptions
  readonly #closing = new AbortController()
  #contents: RuntimeContents = nothingRuns
  #statuses: ReadonlyMap<string, ContainerStatus> = new Map()
  #conditions: readonly RuntimeCondition[] = []
  #kubelet: number | undefined
  #silence: string | undefined
  #shown = ''
  #warned: string | undefined
  #looking: Promise<void> = Promise.resolve()
  #nextLook: Promise<void> | undefined
  #polling: Promise<void> = Promise.resolve()

  constructor(options: RuntimeWatchOptions) {
    this.#options = options
  }

  /** The first look; rejects as the runtime does. `conditions`: what it has just said of itself. */
  async start(conditions: readonly RuntimeCondition[]): Promise<void> {
    this.#conditions = conditions
    await this.#readAll()
    this.#warnOfRival()
    this.#polling = this.#poll()
  }

  async stop(): Promise<void> {
    this.#closing.abort()
    await this.#polling
    await this.#looking
  }

  get contents(): RuntimeContents {
    return this.#contents
  }

  get conditions(): readonly RuntimeCondition[] {
    return this.#conditions
  }

  /** Why nothing can be started now. */
  get problem(): string | undefined {
    if (this.#silence !== undefined) return this.#silence
    const ready = this.#conditions.find(({ type }) => type === 'RuntimeReady')
    if (ready && !ready.status) return `The container runtime says that it is not ready: ${ready.message}`
    return this.#rival
  }

  get #rival(): string | undefined {
    return rivalProblem(this.#options.endpoint, foreignPods(this.#contents.foreign), this.#kubelet)
  }

  /** What runs now, for one who changed it: the look begins after the call, and is shared by all who wait for it. */
  refresh(): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve()
    this.#nextLook ??= this.#looking.then(() => {
      this.#nextLook = undefined
      this.#looking = this.#look()
      return this.#looking
    })
    return this.#nextLook
  }

  /** Never rejects: a runtime that does not answer is shown as a problem, and what it ran counts as running. */
  async #look(): Promise<void> {
    const { log } = this.#options
    try {
      await this.#readAll()
      if (this.#silence !== undefined) log.info('the container runtime answers again')
      this.#silence = undefined
      this.#warnOfRival()
    } catch (error) {
      if (this.#closing.signal.aborted) return
      const why = error instanceof Error ? error.message : String(error)
      if (this.#silence === undefined)
        log.warn('the container runtime does not answer; its pods go on', { why })
      this.#silence = `The container runtime does not answer: ${why}`
    }
    this.#tell()
  }

  async #readAll(): Promise<void> {
    const { cri, name, agent } = this.#options
    const { contents, statuses } = await readRuntime(cri, agent, name, this.#statuses)
    this.#contents = contents
    this.#statuses = statuses
  }

  async #poll(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#closing
    for (let looks = 0; !signal.aborted; looks++) {
      try {
        // The first time at once, though nothing waits for it: pods start first.
        if (looks % looksToProcesses === 0) await this.#askProcesses()
        await sleep(clock, poll, signal)
        await this.refresh()
        if (signal.aborted || this.#silence !== undefined) continue
        await this.#tidyUp()
        if (looks % looksToStatus === looksToStatus - 1) await this.#askStatus()
      } catch (error) {
        if (!signal.aborted) log.warn('tidying up in the container runtime failed', { why: String(error) })
      }
      this.#tell()
    }
  }

  async #tidyUp(): Promise<void> {
    const { cri, busy } = this.#options
    const { containers, broken, superseded } = leftovers(this.#contents, busy())
    for (const { id } of containers) await cri.removeContainer(id)
    for (const { id } of broken) await cri.stopPodSandbox(id)
    for (const { id } of superseded) {
      await cri.stopPodSandbox(id)
      await cri.removePodSandbox(id)
    }
    if (containers.length + broken.length + superseded.length > 0) await this.refresh()
  }

  async #askStatus(): Promise<void> {
    const { conditions } = await this.#options.cri.status(false)
    this.#conditions = conditions
  }

  async #askProcesses(): Promise<void> {
    const { endpoint, disk } = this.#options
    this.#kubelet = await kubeletProcess(endpoint, disk)
    this.#warnOfRival()
    this.#tell()
  }

  #warnOfRival(): void {
    const rival = this.#rival
    if (rival !== undefined && rival !== this.#warned)
      this.#options.log.warn('static pods cannot be started', { why: rival })
    this.#warned = rival
  }

  /** Tells of a change, if there is one. */
  #tell(): void {
    const { records, pods } = this.#contents
    const shown = JSON.stringify([[...records.values()], [...pods.keys()], this.#conditions, this.problem])
    if (shown === this.#shown) return
    this.#shown = shown
    this.#options.onChange()
  }
}
