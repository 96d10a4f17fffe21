import { type Clock, type Disk, type Log, type Net, type Random, sleep } from '../ports.ts'
import { PodWorker } from './lifecycle/pod-worker.ts'
import { kubeletBackoff, type RestartBackoff } from './lifecycle/restart-backoff.ts'
import { refusal } from './manifest/finding.ts'
import { annotations, podKey } from './pod.ts'
import type { Runtime } from './runtime.ts'
import {
  type DesiredPods,
  desiredPods,
  type FileFinding,
  type FileReading,
  nothingDesired,
} from './sources/desired-pods.ts'
import { ManifestDirectory } from './sources/manifest-directory.ts'
import { type FetchText, ManifestUrl } from './sources/manifest-url.ts'
import { isReady } from './status/pod-status.ts'
import type { PodView } from './status/pod-view.ts'

export interface StaticPodsOptions {
  nodeName: string
  /** Where the manifests are. */
  directory: string
  /** Manifests that are fetched, beside the folder's. */
  urls?: readonly string[]
  /** Absent: nothing is fetched. */
  fetchText?: FetchText
  runtime: Runtime
  clock: Clock
  random: Random
  disk: Disk
  net: Net
  log: Log
  /** Default: the kubelet's. */
  backoff?: RestartBackoff
  /** The node's own address; undefined: it knows none. */
  hostAddress(): string | undefined
}

/** Milliseconds until a runtime that cannot be used is tried again: doubling (static-pods.md 8, "Start order"). */
const firstOpenRetry = 50
const longestOpenRetry = 2000
const notTried = 'has not been reached yet'

/**
 * The static pods of a node: what the manifests say runs, without any API. The manifests alone decide, so that edits and
 * removals work while nobody can be reached (a kubelet ignores them then), and a runtime that is not there yet is waited
 * for while everything else goes on.
 */
export class StaticPods {
  readonly #options: StaticPodsOptions
  readonly #workers = new Map<string, PodWorker>()
  readonly #listeners = new Set<() => void>()
  readonly #directory: ManifestDirectory
  readonly #urls: readonly ManifestUrl[]
  /** By URL; without text: the pods that it gave before stay. */
  readonly #fetched = new Map<string, FileReading>()
  readonly #stopping = new AbortController()
  #desired: DesiredPods = nothingDesired
  #readings: readonly FileReading[] | undefined
  #runtimeProblem: string | undefined = notTried
  readonly #begun = Promise.withResolvers<void>()
  #opening: Promise<void> = Promise.resolve()
  #unsubscribe = () => {}

  constructor(options: StaticPodsOptions) {
    this.#options = options
    this.#directory = new ManifestDirectory({
      ...options,
      path: options.directory,
      onReadings: readings => {
        this.#readings = readings
        this.#reconcile()
      },
      onTrouble: () => this.#tell(),
    })
    const { urls = [], fetchText, clock } = options
    for (const url of urls) this.#fetched.set(url, { path: url })
    const onReading = (reading: FileReading) => {
      this.#fetched.set(reading.path, reading)
      this.#reconcile()
    }
    this.#urls = fetchText ? urls.map(url => new ManifestUrl({ url, fetchText, clock, onReading })) : []
  }

  /** Begins at once with both, manifests and runtime. Never rejects. */
  start(): void {
    this.#opening = Promise.all([this.#directory.start(), this.#open()]).then(() => {})
    for (const url of this.#urls) url.start()
  }

  /**
   * Resolves when for the first time nothing is under way: each pod was started, or it is known why it cannot be yet.
   * Pulling an image may take minutes.
   */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  /** When the folder of manifests could be read last, milliseconds since the epoch; undefined: never. */
  get lastLook(): number | undefined {
    return this.#directory.lastLook
  }

  /** Ends all pods that run, each by its grace; resolves when the last has ended. Nothing starts afterwards. */
  async end(): Promise<void> {
    await this.#stopSources()
    this.#readings = []
    this.#fetched.clear()
    this.#desired = nothingDesired
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => {
      const isOver = this.#options.runtime.containers().every(({ state }) => state === 'Exited')
      // Without its runtime nothing can be ended, and the agent does not wait for it.
      if (isOver || this.runtimeProblem !== undefined) resolve()
    }
    const unlisten = this.onChange(look)
    this.#reconcile()
    look()
    await promise
    unlisten()
  }

  /** Ends watching and probing. The pods go on. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#stopSources()
    await this.#opening
    this.#unsubscribe()
    // Side by side: the runtime stops waiting for containers that are being stopped.
    await Promise.all([
      this.#options.runtime.close(),
      ...[...this.#workers.values()].map(worker => worker.stop()),
    ])
  }

  /** Called when anything that `views` and `findings` show may have changed. The function returned ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** All static pods of the node, in start order. */
  views(): PodView[] {
    return this.#desired.pods.map(pod => {
      const view = this.#workers.get(podKey(pod))?.view()
      return view ?? { pod, records: [], probes: new Map(), waiting: new Map(), ...this.#waitingForRuntime() }
    })
  }

  /** What is wrong with the manifests. */
  findings(): readonly FileFinding[] {
    const { trouble } = this.#directory
    const { findings } = this.#desired
    const { directory: path } = this.#options
    return trouble === undefined ? findings : [{ path, ...refusal('Unreadable', trouble) }, ...findings]
  }

  get runtimeProblem(): string | undefined {
    return this.#runtimeProblem ?? this.#options.runtime.problem?.()
  }

  /**
   * Why a pod cannot be relied on now; undefined: it is ready. `name` is `namespace/name` as the manifest has it, or the
   * name with the node's behind it.
   */
  whyNotReady(name: string): string | undefined {
    const { nodeName } = this.#options
    const view = this.views().find(({ pod }) =>
      [name, `${name}-${nodeName.toLowerCase()}`].includes(podKey(pod)),
    )
    if (!view) return `there is no static pod ${name} yet`
    if (isReady(view)) return undefined
    return view.problem?.message ?? `the static pod ${name} is not ready yet`
  }

  async #stopSources(): Promise<void> {
    await Promise.all([this.#directory, ...this.#urls].map(source => source.stop()))
  }

  #waitingForRuntime() {
    const why = this.runtimeProblem
    return why === undefined ? {} : { problem: { reason: 'RuntimeUnavailable', message: why } }
  }

  async #open(): Promise<void> {
    const { runtime, clock, log } = this.#options
    const { signal } = this.#stopping
    for (let wait = firstOpenRetry; !signal.aborted; wait = Math.min(longestOpenRetry, wait * 2)) {
      try {
        await runtime.open()
        break
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        if (why !== this.#runtimeProblem)
          log.warn('static pods cannot run yet', { runtime: runtime.name, why })
        this.#runtimeProblem = why
        this.#tell()
        await sleep(clock, wait, signal)
      }
    }
    if (signal.aborted) return
    this.#runtimeProblem = undefined
    this.#unsubscribe = runtime.onChange(() => this.#wakeAll())
    this.#recallPods()
    this.#reconcile()
  }

  /** What an earlier agent started counts as the last good version of its manifest. */
  #recallPods(): void {
    const files = new Map(this.#desired.files)
    const pods = [...this.#desired.pods]
    for (const pod of this.#options.runtime.pods()) {
      const path = pod.metadata.annotations[annotations.manifest] ?? ''
      const known = files.get(path) ?? []
      if (!known.some(other => podKey(other) === podKey(pod))) files.set(path, [...known, pod])
      if (!pods.some(other => podKey(other) === podKey(pod))) pods.push(pod)
    }
    this.#desired = { ...this.#desired, files, pods }
  }

  #reconcile(): void {
    const { nodeName, clock, log, ...rest } = this.#options
    // Before the first look nothing is known, and nothing may be stopped for that; nor started without a runtime.
    if (this.#readings === undefined) return
    const before = this.#desired.findings
    const readings = [...this.#readings, ...this.#fetched.values()]
    this.#desired = desiredPods(this.#desired, readings, { nodeName, now: clock.now() })
    reportNew(log, before, this.#desired.findings)
    if (this.#runtimeProblem !== undefined) {
      this.#tell()
      return
    }
    const wanted = new Map(this.#desired.pods.map(pod => [podKey(pod), pod]))
    const there = rest.runtime.containers().map(({ podKey }) => podKey)
    for (const key of new Set([...wanted.keys(), ...there])) {
      if (this.#workers.has(key)) continue
      const address = () => rest.hostAddress() ?? '127.0.0.1'
      const { backoff = kubeletBackoff, ...ports } = rest
      this.#workers.set(
        key,
        new PodWorker({ ...ports, key, clock, log, backoff, address, onChange: () => this.#tell() }),
      )
    }
    for (const [key, worker] of this.#workers) worker.setPod(wanted.get(key))
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake()
    for (const [key, worker] of this.#workers) {
      if (!worker.done) continue
      this.#workers.delete(key)
      void worker.stop()
    }
    void this.#removeEmptyPods()
    this.#tell()
  }

  /** Pods that nobody wants and that have no container left take their folders with them. */
  async #removeEmptyPods(): Promise<void> {
    const { runtime, log } = this.#options
    const wanted = new Set(this.#desired.pods.map(({ metadata }) => metadata.uid))
    const used = new Set(runtime.containers().map(({ podUid }) => podUid))
    for (const pod of runtime.pods()) {
      if (wanted.has(pod.metadata.uid) || used.has(pod.metadata.uid)) continue
      await runtime.removePod(pod).catch(error => {
        log.warn('what a static pod left cannot be removed', { pod: podKey(pod), error: String(error) })
      })
    }
  }

  #tell(): void {
    const isBusy = [...this.#workers.values()].some(({ busy }) => busy)
    const isKnown = this.#readings !== undefined && this.#runtimeProblem !== notTried
    if (isKnown && !isBusy) this.#begun.resolve()
    for (const listener of [...this.#listeners]) listener()
  }
}

function reportNew(log: Log, before: readonly FileFinding[], now: readonly FileFinding[]): void {
  const known = new Set(before.map(({ path, message }) => `${path}\n${message}`))
  for (const { path, severity, reason, message } of now) {
    if (known.has(`${path}\n${message}`)) continue
    const write = severity === 'error' ? log.error : log.warn
    write(
      severity === 'error'
        ? 'a manifest of a static pod is not used'
        : 'a manifest of a static pod has an oddity',
      {
        path,
        reason,
        // `message` is the line's own.
        why: message,
      },
    )
  }
}
