import { type Clock, type Disk, type Log, sleep } from '../../ports.ts'
import type { RuntimeCondition } from '../runtime.ts'
import type { ContainerStatus, Cri } from './cri.ts'
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

/** Milliseconds between two looks at what runs; every tenth one also asks how the runtime is and who else uses it. */
const poll = 1000
const looksToStatus = 10

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

  /** The first look; rejects as the runtime does. */
  async start(): Promise<void> {
    await Promise.all([this.#readAll(), this.#askStatus()])
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
    for (let looks = 1; !signal.aborted; looks++) {
      await sleep(clock, poll, signal)
      await this.refresh()
      if (signal.aborted || this.#silence !== undefined) continue
      try {
        await this.#tidyUp()
        if (looks % looksToStatus === 0) await this.#askStatus()
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
    const { cri, endpoint, disk } = this.#options
    const [{ status }, kubelet] = await Promise.all([cri.status(false), kubeletProcess(endpoint, disk)])
    this.#conditions = (status?.conditions ?? []).map(({ type, status, reason, message }) => ({
      type,
      status,
      message: message || reason,
    }))
    this.#kubelet = kubelet
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
