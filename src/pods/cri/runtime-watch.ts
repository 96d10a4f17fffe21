import { type Clock, type Disk, type Log, sleep } from '../../ports.ts'
import type { RuntimeCondition } from '../runtime.ts'
import { type Cri, isUnimplemented } from './cri.ts'
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

/** Milliseconds between two looks at what runs; the second where the runtime tells of events. */
const poll = 1000
const pollBesideEvents = 10_000
/** Milliseconds that further events are waited for, as they come in crowds. */
const gathering = 50
/** Milliseconds until the runtime is asked again how it is, and for events where it has ended them. */
const betweenStatuses = 10_000
/** Milliseconds until the processes of the machine are gone through for a kubelet; its pods are seen with each look. */
const betweenProcesses = 60_000

/**
 * What runs in the container runtime, and what nobody else would tidy up: looked at after each change, and when the runtime
 * tells of an event. A runtime that tells of none is looked at each second.
 */
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
  /** Whether the runtime tells of events: `ask`: it is to be asked. */
  #events: 'ask' | 'told' | 'none' = 'ask'
  #following: Promise<void> = Promise.resolve()
  #wake = new AbortController()

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
    this.#wake.abort()
    await this.#polling
    await this.#following
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

  /** Why a pod cannot have a network of its own now, by what the runtime has just said. */
  async networkProblem(): Promise<string | undefined> {
    const missing = () => this.#conditions.find(({ type, status }) => type === 'NetworkReady' && !status)
    if (!missing()) return undefined
    // It may have come since.
    await this.#askStatus()
    return missing()?.message
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
      if (this.#silence !== undefined) {
        log.info('the container runtime answers again')
        // It may be another one, which tells of events.
        if (this.#events === 'none') this.#events = 'ask'
      }
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
    const { contents, statuses } = await readRuntime(
      cri,
      agent,
      name,
      this.#statuses,
      this.#contents.addresses,
    )
    this.#contents = contents
    this.#statuses = statuses
  }

  async #poll(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#closing
    // The first time at once, though nothing waits for it: pods start first.
    let processesAt = clock.monotonic()
    let statusAt = processesAt + betweenStatuses
    while (!signal.aborted) {
      try {
        if (clock.monotonic() >= processesAt) {
          processesAt += betweenProcesses
          await this.#askProcesses()
        }
        if (this.#events === 'ask') this.#followEvents()
        await this.#untilNextLook()
        await this.refresh()
        if (signal.aborted || this.#silence !== undefined) continue
        await this.#tidyUp()
        if (clock.monotonic() < statusAt) continue
        statusAt = clock.monotonic() + betweenStatuses
        await this.#askStatus()
      } catch (error) {
        if (!signal.aborted) log.warn('tidying up in the container runtime failed', { why: String(error) })
      }
      this.#tell()
    }
  }

  async #untilNextLook(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#wake
    const { signal: closing } = this.#closing
    await sleep(clock, this.#events === 'told' ? pollBesideEvents : poll, signal)
    if (!signal.aborted || closing.aborted) return
    await sleep(clock, gathering, closing)
    this.#wake = new AbortController()
  }

  /** An event only wakes: the look that follows is right also where events were lost. */
  #followEvents(): void {
    const { signal } = this.#closing
    const wake = () => this.#wake.abort()
    this.#events = 'told'
    this.#following = this.#options.cri.containerEvents(wake, signal).then(
      () => this.#eventsEnded(),
      error => {
        if (!isUnimplemented(error)) return this.#eventsEnded()
        this.#events = 'none'
        wake()
      },
    )
  }

  async #eventsEnded(): Promise<void> {
    this.#events = 'none'
    // What happened since the last one is looked at now.
    this.#wake.abort()
    await sleep(this.#options.clock, betweenStatuses, this.#closing.signal)
    this.#events = 'ask'
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
    const { records, pods, addresses } = this.#contents
    const shown = JSON.stringify([
      [...records.values()],
      [...pods.keys()],
      [...addresses],
      this.#conditions,
      this.problem,
    ])
    if (shown === this.#shown) return
    this.#shown = shown
    this.#options.onChange()
  }
}
