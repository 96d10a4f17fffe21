import { RollcallError } from '../../errors.ts'
import { type Clock, type ConnectRpc, type Disk, type Log, type Spawn, sleep } from '../../ports.ts'
import type { NodeFacts } from '../environment.ts'
import { revisionOf, type StaticPod } from '../pod.ts'
import type { ContainerRecord, Runtime, RuntimeCondition, RuntimeStream, StartOrder } from '../runtime.ts'
import { LogRotation } from '../state/log-rotation.ts'
import { podFolder } from '../state/pod-folder.ts'
import { removeLog } from '../state/remove-log.ts'
import { removeTree } from '../state/remove-tree.ts'
import { openStateFolder } from '../state/state-folder.ts'
import { type Cri, createCri, isNotFound, isUnavailable } from './cri.ts'
import { criRefusals } from './cri-rules.ts'
import { ImageArchives } from './image-archives.ts'
import { labels } from './labels.ts'
import { configuredCgroupDriver, nodeMemory, saidCgroupDriver } from './node-facts.ts'
import { removeCgroup } from './pod-cgroup.ts'
import { type ConfigFacts, logsRoot } from './pod-config.ts'
import { PodSandboxes } from './pod-sandboxes.ts'
import { removeStrayFolders, removeVolumes } from './pod-volumes.ts'
import { containerId, usableSandbox } from './read-runtime.ts'
import { RuntimeWatch } from './runtime-watch.ts'
import { startContainer } from './start-container.ts'
import { streamUrl } from './stream-url.ts'

export interface CriRuntimeOptions {
  /** `unix:///path` of the runtime's socket. */
  endpoint: string
  /** Logs and volumes of the pods; belongs to this runtime alone, and tells its pods from those of others. */
  stateDirectory: string
  /** Where archives of images may be; absent: nowhere. */
  imageArchives?: string
  /** What containers are told of the node. */
  node(): NodeFacts
  connectRpc: ConnectRpc
  spawn: Spawn
  disk: Disk
  clock: Clock
  log: Log
}

/** Milliseconds that the end of the agent waits for containers that are being started. */
const longestClose = 5000

/** What there is once the runtime has answered. */
interface Opened {
  cri: Cri
  name: string
  version: string
  watch: RuntimeWatch
  sandboxes: PodSandboxes
  archives: ImageArchives | undefined
  facts: Omit<ConfigFacts, keyof NodeFacts>
}

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
  /** Starts under way, with the uid of their pod. */
  readonly #starts = new Map<Promise<void>, string>()
  readonly #removals = new Map<string, Promise<void>>()
  #open: Opened | undefined

  constructor(options: CriRuntimeOptions) {
    this.#options = options
    this.#rotation = new LogRotation({
      ...options,
      paths: () => this.#running().map(record => this.logPath(record)),
      reopen: async path => {
        const record = this.#running().find(record => this.logPath(record) === path)
        if (record) await this.#opened.cri.reopenContainerLog(containerId(record))
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
    const { stateDirectory, disk, spawn, connectRpc, endpoint, log } = this.#options
    await openStateFolder(stateDirectory, spawn.user, disk)
    const cri = createCri(await connectRpc(endpoint), endpoint)
    try {
      this.#open = await this.#connect(cri)
    } catch (error) {
      cri.close()
      throw unavailable(error)
    }
    for (const [pod, records] of Map.groupBy(this.#running(), ({ podKey }) => podKey))
      log.info('a static pod that runs already was taken over', { pod, containers: records.length })
    // What cannot be removed is no reason to run nothing.
    await removeStrayFolders(this.pods(), stateDirectory, this.#options).catch((error: unknown) =>
      log.warn('what is left of static pods cannot be removed', { error: String(error) }),
    )
    this.#rotation.start()
  }

  pods(): readonly StaticPod[] {
    return [...(this.#open?.watch.contents.pods.values() ?? [])]
  }

  containers(): readonly ContainerRecord[] {
    return [...(this.#open?.watch.contents.records.values() ?? [])]
  }

  version(): string | undefined {
    return this.#open && `${this.#open.name}://${this.#open.version}`
  }

  conditions(): readonly RuntimeCondition[] {
    return this.#open?.watch.conditions ?? []
  }

  problem(): string | undefined {
    return this.#open?.watch.problem
  }

  addresses(pod: StaticPod): readonly string[] {
    const contents = this.#open?.watch.contents
    const sandbox = contents && usableSandbox(contents, pod.metadata.uid, revisionOf(pod))
    return (sandbox && contents.addresses.get(sandbox.id)) ?? []
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(order: StartOrder): Promise<void> {
    const { problem } = this.#opened.watch
    if (problem !== undefined) throw unavailable(problem)
    const start = this.#start(order)
    this.#starts.set(start, order.pod.metadata.uid)
    try {
      await start
    } catch (error) {
      throw isUnavailable(error) ? unavailable(error) : error
    } finally {
      this.#starts.delete(start)
      await this.#opened.watch.refresh()
    }
  }

  async stop(record: ContainerRecord, grace: number): Promise<void> {
    const { cri, watch } = this.#opened
    try {
      await cri.stopContainer(containerId(record), grace, this.#closing.signal)
    } catch (error) {
      // Cut short by the end of this agent: the next one goes on.
      if (this.#closing.signal.aborted) return
      if (!isNotFound(error)) throw error
    }
    await watch.refresh()
  }

  async remove(record: ContainerRecord): Promise<void> {
    const { cri, watch } = this.#opened
    await cri.removeContainer(containerId(record))
    await removeLog(this.logPath(record), this.#options.disk)
    await watch.refresh()
  }

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
    const { exitCode } = await this.#opened.cri.execSync(containerId(record), command, seconds, signal)
    return exitCode
  }

  streamUrl(stream: RuntimeStream): Promise<string> {
    return streamUrl(this.#opened.cri, this.#opened.watch.contents, stream)
  }

  logPath({ podKey, podUid, container, attempt }: ContainerRecord): string {
    const folder = `${podKey.replace('/', '_')}_${podUid}`
    return `${logsRoot(this.#options.stateDirectory)}/${folder}/${container}/${attempt}.log`
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#rotation.stop()
    const waited = new AbortController()
    const starts = Promise.allSettled(this.#starts.keys())
    await Promise.race([starts, sleep(this.#options.clock, longestClose, waited.signal)])
    waited.abort()
    const stopped = this.#open?.watch.stop()
    // What still waits for the runtime is given up.
    this.#open?.cri.close()
    await stopped
  }

  get #opened(): Opened {
    if (!this.#open) throw unavailable('The container runtime has not been reached yet.')
    return this.#open
  }

  #start(order: StartOrder): Promise<void> {
    const { cri, watch, sandboxes, archives, facts } = this.#opened
    return startContainer(order, {
      ...this.#options,
      cri,
      watch,
      sandboxes,
      archives,
      facts: { ...facts, ...this.#options.node() },
      signal: this.#closing.signal,
    })
  }

  #running(): ContainerRecord[] {
    return this.containers().filter(({ state }) => state === 'Running')
  }

  async #connect(cri: Cri): Promise<Opened> {
    const { stateDirectory, disk, endpoint, log } = this.#options
    const [version, { conditions, info }, said, memory] = await Promise.all([
      cri.version(),
      cri.status(true),
      saidCgroupDriver(cri),
      nodeMemory(disk),
    ])
    const cgroupDriver = said ?? configuredCgroupDriver(info)
    const { runtimeName: name, runtimeVersion } = version
    const watch = new RuntimeWatch({
      ...this.#options,
      cri,
      name,
      agent: stateDirectory,
      busy: () => new Set(this.#starts.values()),
      onChange: () => {
        this.#rotation.start()
        for (const listener of [...this.#listeners]) listener()
      },
    })
    await watch.start(conditions)
    log.info('the container runtime answers', {
      endpoint,
      runtime: `${name} ${runtimeVersion}`,
      cgroupDriver,
    })
    return {
      cri,
      name,
      version: runtimeVersion,
      watch,
      sandboxes: new PodSandboxes(cri, () => watch.contents),
      archives: name === 'containerd' ? this.#archives() : undefined,
      facts: { stateDirectory, cgroupDriver, nodeMemory: memory },
    }
  }

  #archives(): ImageArchives | undefined {
    const { imageArchives: directory } = this.#options
    const { signal } = this.#closing
    return directory === undefined ? undefined : new ImageArchives({ ...this.#options, directory, signal })
  }

  /** Its folders go before the sandbox that tells of them, so that an agent that dies in between leaves nothing behind. */
  async #removePod(pod: StaticPod): Promise<void> {
    const { disk, stateDirectory } = this.#options
    const { cri, watch } = this.#opened
    const { uid } = pod.metadata
    const sandboxes = watch.contents.sandboxes.filter(({ labels: of }) => of[labels.podUid] === uid)
    for (const { id } of sandboxes) await cri.stopPodSandbox(id)
    await removeVolumes(pod, stateDirectory, this.#options)
    await removeTree(podFolder(logsRoot(stateDirectory), pod), disk)
    for (const { id } of sandboxes) await cri.removePodSandbox(id)
    await removeCgroup(pod, disk)
    await watch.refresh()
  }
}

function unavailable(why: unknown): RollcallError {
  if (why instanceof RollcallError && why.code === 'POD_RUNTIME_UNAVAILABLE') return why
  const message =
    why instanceof Error ? `The container runtime cannot be used now: ${why.message}` : String(why)
  return new RollcallError('POD_RUNTIME_UNAVAILABLE', message)
}
