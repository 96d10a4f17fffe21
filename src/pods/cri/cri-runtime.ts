import { RollcallError } from '../../errors.ts'
import { type Clock, type ConnectRpc, type Disk, type Log, type Spawn, sleep } from '../../ports.ts'
import type { NodeFacts } from '../environment.ts'
import type { StaticPod } from '../pod.ts'
import type { ContainerRecord, Runtime, RuntimeCondition, StartOrder } from '../runtime.ts'
import { takeLock } from '../state/agent-lock.ts'
import { LogRotation } from '../state/log-rotation.ts'
import { podFolder } from '../state/pod-folder.ts'
import { removeLog } from '../state/remove-log.ts'
import { removeTree } from '../state/remove-tree.ts'
import type { ContainerStatus } from './cri.ts'
import { type Cri, createCri, isNotFound, isUnavailable } from './cri.ts'
import { criRefusals } from './cri-rules.ts'
import { checkNonRoot, provideImage } from './images.ts'
import { labels } from './labels.ts'
import { cgroupDriverOf, nodeMemory } from './node-facts.ts'
import { removeCgroup } from './pod-cgroup.ts'
import { type ConfigFacts, containerConfig, logsRoot } from './pod-config.ts'
import { PodSandboxes } from './pod-sandboxes.ts'
import { prepareVolumes, removeVolumes } from './pod-volumes.ts'
import { leftovers, nothingRuns, type RuntimeContents, readRuntime } from './read-runtime.ts'
import { foreignPods, kubeletProcess, rivalProblem } from './rival.ts'

export interface CriRuntimeOptions {
  /** `unix:///path` of the runtime's socket. */
  endpoint: string
  /** Logs and volumes of the pods; belongs to this runtime alone, and tells its pods from those of others. */
  stateDirectory: string
  /** What containers are told of the node. */
  node(): NodeFacts
  connectRpc: ConnectRpc
  spawn: Spawn
  disk: Disk
  clock: Clock
  log: Log
}

/** Milliseconds between two looks at what runs; every tenth one also asks how the runtime is and who else uses it. */
const poll = 1000
const looksToStatus = 10

/**
 * Runs containers through the CRI of a container runtime. What runs is read from the runtime each time, by labels; on disk
 * are only logs and volumes. So it does not matter which agent started a container, whether the runtime was restarted since,
 * or what else happened in between.
 */
export class CriRuntime implements Runtime {
  readonly logFormat = 'cri'
  readonly #options: CriRuntimeOptions
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  readonly #rotation: LogRotation
  /** Uids of the pods that have a container on its way. */
  readonly #busy = new Map<string, number>()
  readonly #removals = new Map<string, Promise<void>>()
  #open:
    | { cri: Cri; sandboxes: PodSandboxes; name: string; facts: Omit<ConfigFacts, keyof NodeFacts> }
    | undefined
  #contents: RuntimeContents = nothingRuns
  #statuses: ReadonlyMap<string, ContainerStatus> = new Map()
  #conditions: readonly RuntimeCondition[] = []
  #kubelet: number | undefined
  #problem: string | undefined
  #shown = ''
  #looking: Promise<void> = Promise.resolve()
  #nextLook: Promise<void> | undefined
  #polling: Promise<void> = Promise.resolve()

  constructor(options: CriRuntimeOptions) {
    this.#options = options
    this.#rotation = new LogRotation({
      ...options,
      paths: () =>
        this.containers()
          .filter(isRunning)
          .map(record => this.logPath(record)),
      reopen: async path => {
        const record = this.containers().find(record => this.logPath(record) === path)
        if (record) await this.#cri.reopenContainerLog(idOf(record))
      },
    })
  }

  get name(): string {
    return this.#open?.name ?? 'cri'
  }

  refusals(pod: StaticPod): string[] {
    return criRefusals(pod)
  }

  async open(): Promise<void> {
    const { stateDirectory, disk, connectRpc, endpoint, log } = this.#options
    await disk.makeDirectory(stateDirectory, 0o700)
    await takeLock(`${stateDirectory}/agent`, disk)
    const cri = createCri(await connectRpc(endpoint), endpoint)
    try {
      const [version, status, memory] = await Promise.all([cri.version(), cri.status(true), nodeMemory(disk)])
      const cgroupDriver = await cgroupDriverOf(cri, status.info)
      const { runtimeName, runtimeVersion } = version
      this.#conditions = status.status?.conditions ?? []
      const facts = { stateDirectory, cgroupDriver, nodeMemory: memory }
      const sandboxes = new PodSandboxes(cri, () => this.#contents)
      this.#open = { cri, sandboxes, name: runtimeName, facts }
      await this.#readAll()
      this.#kubelet = await kubeletProcess(endpoint, disk)
      log.info('the container runtime answers', {
        endpoint,
        runtime: `${runtimeName} ${runtimeVersion}`,
        cgroupDriver,
      })
    } catch (error) {
      this.#open = undefined
      cri.close()
      throw this.#unavailable(error)
    }
    const taken = Map.groupBy(this.containers().filter(isRunning), record => record.podKey)
    for (const [pod, records] of taken)
      log.info('a static pod that runs already was taken over', { pod, containers: records.length })
    this.#reportRival()
    this.#polling = this.#poll()
    this.#rotation.start()
  }

  pods(): readonly StaticPod[] {
    return [...this.#contents.pods.values()]
  }

  containers(): readonly ContainerRecord[] {
    return [...this.#contents.records.values()]
  }

  conditions(): readonly RuntimeCondition[] {
    return this.#conditions
  }

  problem(): string | undefined {
    if (this.#problem !== undefined) return this.#problem
    const ready = this.#conditions.find(({ type }) => type === 'RuntimeReady')
    if (ready && !ready.status) return `The container runtime says that it is not ready: ${ready.message}`
    return rivalProblem(this.#options.endpoint, foreignPods(this.#contents.foreign), this.#kubelet)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(order: StartOrder): Promise<void> {
    const { uid } = order.pod.metadata
    const problem = this.problem()
    if (problem !== undefined) throw unavailableError(problem)
    this.#busy.set(uid, (this.#busy.get(uid) ?? 0) + 1)
    try {
      await this.#startContainer(order)
    } catch (error) {
      throw isUnavailable(error) ? this.#unavailable(error) : error
    } finally {
      this.#busy.set(uid, (this.#busy.get(uid) ?? 1) - 1)
      if (this.#busy.get(uid) === 0) this.#busy.delete(uid)
      await this.#refresh()
    }
  }

  async stop(record: ContainerRecord, grace: number): Promise<void> {
    try {
      await this.#cri.stopContainer(idOf(record), grace, this.#closing.signal)
    } catch (error) {
      // Cut short by the end of this agent: the next one goes on.
      if (this.#closing.signal.aborted) return
      if (!isNotFound(error)) throw error
    }
    await this.#refresh()
  }

  async remove(record: ContainerRecord): Promise<void> {
    await this.#cri.removeContainer(idOf(record))
    await removeLog(this.logPath(record), this.#options.disk)
    await this.#refresh()
  }

  /** Its folders go before the sandbox that tells of them, so that an agent that dies in between leaves nothing behind. */
  removePod(pod: StaticPod): Promise<void> {
    const { uid } = pod.metadata
    const removal = this.#removals.get(uid) ?? this.#removePod(pod).finally(() => this.#removals.delete(uid))
    this.#removals.set(uid, removal)
    return removal
  }

  async exec(
    record: ContainerRecord,
    command: readonly string[],
    signal: AbortSignal,
    seconds: number,
  ): Promise<number> {
    const { exitCode } = await this.#cri.execSync(idOf(record), command, seconds, signal)
    return exitCode
  }

  logPath({ podKey, podUid, container, attempt }: ContainerRecord): string {
    const folder = `${podKey.replace('/', '_')}_${podUid}`
    return `${logsRoot(this.#options.stateDirectory)}/${folder}/${container}/${attempt}.log`
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#rotation.stop()
    await this.#polling
    await this.#looking
    this.#open?.cri.close()
  }

  get #opened() {
    if (!this.#open) throw unavailableError('The container runtime has not been reached yet.')
    return this.#open
  }

  get #cri(): Cri {
    return this.#opened.cri
  }

  async #startContainer(order: StartOrder): Promise<void> {
    const { cri, sandboxes } = this.#opened
    const { disk, stateDirectory, node } = this.#options
    const facts = { ...this.#opened.facts, ...node() }
    const { pod, container } = order
    await disk.makeDirectory(`${podFolder(logsRoot(stateDirectory), pod)}/${container.name}`, 0o755)
    const [sandbox] = await Promise.all([
      sandboxes.provide(pod, facts),
      prepareVolumes(pod, facts, this.#options),
    ])
    const image = await provideImage(cri, container, sandbox.config, this.#closing.signal)
    checkNonRoot(pod, container, image)
    const config = containerConfig(order, facts, image.uid?.value)
    const id = await cri.createContainer(sandbox.id, config, sandbox.config)
    try {
      await cri.startContainer(id)
    } catch (error) {
      await this.#refresh()
      // The runtime keeps it as a run that ended at once; what it said is in there.
      if (!this.#contents.records.has(id)) throw error
    }
  }

  async #removePod(pod: StaticPod): Promise<void> {
    const { disk, stateDirectory } = this.#options
    const { cri } = this.#opened
    const { uid } = pod.metadata
    const sandboxes = this.#contents.sandboxes.filter(({ labels: of }) => of[labels.podUid] === uid)
    for (const { id } of sandboxes) await cri.stopPodSandbox(id)
    await removeVolumes(pod, stateDirectory, this.#options)
    await removeTree(podFolder(logsRoot(stateDirectory), pod), disk)
    for (const { id } of sandboxes) await cri.removePodSandbox(id)
    await removeCgroup(pod, disk)
    await this.#refresh()
  }

  /** What runs now, for one who changed it: the look begins after the call, and is shared by all who wait for it. */
  #refresh(): Promise<void> {
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
      if (this.#problem !== undefined) log.info('the container runtime answers again')
      this.#problem = undefined
    } catch (error) {
      if (this.#closing.signal.aborted) return
      const { message } = this.#unavailable(error)
      if (this.#problem === undefined)
        log.warn('the container runtime does not answer; its pods go on', { why: message })
      this.#problem = message
    }
    this.#tell()
  }

  async #readAll(): Promise<void> {
    const { cri, name } = this.#opened
    const { contents, statuses } = await readRuntime(cri, this.#options.stateDirectory, name, this.#statuses)
    this.#contents = contents
    this.#statuses = statuses
  }

  async #poll(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#closing
    for (let looks = 1; !signal.aborted; looks++) {
      await sleep(clock, poll, signal)
      await this.#refresh()
      if (signal.aborted || this.#problem !== undefined) continue
      try {
        await this.#clean()
        if (looks % looksToStatus === 0) await this.#askStatus()
      } catch (error) {
        if (!signal.aborted)
          this.#options.log.warn('tidying up in the container runtime failed', { error: String(error) })
      }
    }
  }

  async #clean(): Promise<void> {
    const { cri } = this.#opened
    const { containers, broken, superseded } = leftovers(this.#contents, new Set(this.#busy.keys()))
    for (const { id } of containers) await cri.removeContainer(id)
    for (const { id } of broken) await cri.stopPodSandbox(id)
    for (const { id } of superseded) {
      await cri.stopPodSandbox(id)
      await cri.removePodSandbox(id)
    }
    if (containers.length + broken.length + superseded.length > 0) await this.#refresh()
  }

  async #askStatus(): Promise<void> {
    const { endpoint, disk } = this.#options
    const { status } = await this.#opened.cri.status(false)
    this.#conditions = status?.conditions ?? []
    this.#kubelet = await kubeletProcess(endpoint, disk)
    this.#tell()
  }

  #reportRival(): void {
    const rival = rivalProblem(this.#options.endpoint, foreignPods(this.#contents.foreign), this.#kubelet)
    if (rival !== undefined) this.#options.log.warn('static pods cannot be started', { why: rival })
  }

  /** Tells of a change, if there is one. */
  #tell(): void {
    const shown = JSON.stringify([
      [...this.#contents.records.values()],
      [...this.#contents.pods.keys()],
      this.#conditions,
      this.problem(),
    ])
    if (shown === this.#shown) return
    this.#shown = shown
    for (const listener of [...this.#listeners]) listener()
  }

  #unavailable(error: unknown): RollcallError {
    if (error instanceof RollcallError && error.code === 'POD_RUNTIME_UNAVAILABLE') return error
    const why = error instanceof Error ? error.message : String(error)
    return unavailableError(`The container runtime cannot be used now: ${why}`)
  }
}

function unavailableError(message: string): RollcallError {
  return new RollcallError('POD_RUNTIME_UNAVAILABLE', message)
}

function isRunning({ state }: ContainerRecord): boolean {
  return state === 'Running'
}

/** The runtime's own id of a container. */
function idOf({ id }: ContainerRecord): string {
  return id.slice(id.indexOf('://') + '://'.length)
}
