import type { Clock, Disk, Log, Net, Random, Timer } from '../../ports.ts'
import { type Retry, retries, whyNotStarted } from '../not-started.ts'
import { type Container, graceSeconds, revisionOf, type StaticPod } from '../pod.ts'
import { ContainerProbes, hasProbes } from '../probes/container-probes.ts'
import type { ContainerRecord, Runtime, StartOrder } from '../runtime.ts'
import type { PodView } from '../status/pod-view.ts'
import { prepareHostPaths } from '../volumes/host-path.ts'
import { planPod } from './plan-pod.ts'
import type { RestartBackoff } from './restart-backoff.ts'
import { stopGently } from './stop-gently.ts'

export interface PodWorkerOptions {
  key: string
  runtime: Runtime
  clock: Clock
  random: Random
  disk: Disk
  net: Net
  log: Log
  backoff: RestartBackoff
  /** Where probes go that name no host, unless the pod has a network of its own. */
  address(): string
  /** Something that `view` shows may have changed. */
  onChange(): void
}

interface Trouble {
  reason: string
  message: string
  failures: number
  /** Monotonic milliseconds. */
  retryAt: number
}

/**
 * Keeps one pod as its manifest says. What to do is planPod's decision over what the runtime shows; here it is carried
 * out, as much as possible at once. Works the same for a pod that an earlier agent started.
 */
export class PodWorker {
  readonly #options: PodWorkerOptions
  #pod: StaticPod | undefined
  /** What the runtime showed when this worker began: these containers were not started by it. */
  readonly #adopted: ReadonlySet<string>
  readonly #probes = new Map<string, ContainerProbes>()
  /** Work under way, by what it is about. */
  readonly #busy = new Map<string, Promise<void>>()
  /** When a run was first seen to have ended, monotonic milliseconds. */
  readonly #endSeen = new Map<string, number>()
  readonly #troubles = new Map<string, Trouble>()
  #prepared: string | undefined
  #crashLoops: ReadonlyMap<string, number> = new Map()
  #timer: Timer | undefined
  readonly #stopping = new AbortController()
  #hasLooked = false
  #done = false

  constructor(options: PodWorkerOptions) {
    this.#options = options
    this.#adopted = new Set(this.#records().map(({ id }) => id))
  }

  /** From now on this should run; undefined: nothing. */
  setPod(pod: StaticPod | undefined): void {
    if (pod && this.#pod && revisionOf(pod) === revisionOf(this.#pod)) return
    this.#pod = pod
    this.#troubles.clear()
    this.wake()
  }

  /** Something is under way, a start, a stop, a removal, or nothing was looked at yet. */
  get busy(): boolean {
    return !this.#hasLooked || this.#busy.size > 0
  }

  /** Nothing should run and nothing is left. */
  get done(): boolean {
    return this.#done
  }

  view(): PodView | undefined {
    if (!this.#pod) return undefined
    const waiting = new Map<string, { reason: string; message: string }>()
    for (const name of this.#crashLoops.keys()) {
      waiting.set(name, { reason: 'CrashLoopBackOff', message: 'waits before it is started again' })
    }
    for (const [name, { reason, message }] of this.#troubles) waiting.set(name, { reason, message })
    const problem = this.#troubles.get('')
    const addresses = this.#ownAddresses()
    return {
      pod: this.#pod,
      records: this.#records().filter(({ revision }) => this.#pod && revision === revisionOf(this.#pod)),
      probes: new Map([...this.#probes].map(([id, { started, ready }]) => [id, { started, ready }])),
      waiting,
      ...(addresses.length > 0 && { addresses }),
      ...(problem && { problem: { reason: problem.reason, message: problem.message } }),
    }
  }

  /** Looks at what is and does what is to be done. */
  wake(): void {
    if (this.#stopping.signal.aborted) return
    const { clock, backoff } = this.#options
    this.#timer?.cancel()
    const records = this.#records()
    this.#followProbes(records)
    const unhealthy = new Set([...this.#probes].filter(([, probes]) => probes.failed).map(([id]) => id))
    const plan = planPod({
      pod: this.#pod,
      records,
      unhealthy,
      backoff,
      since: record => this.#since(record),
    })
    for (const record of plan.stop) this.#do(record.id, () => this.#stop(record))
    for (const record of plan.remove) this.#do(record.id, () => this.#remove(record))
    for (const order of plan.start) this.#start(order)
    this.#crashLoops = plan.waiting
    this.#hasLooked = true
    this.#done = plan.done && this.#busy.size === 0
    const now = clock.monotonic()
    const retries = [...this.#troubles.values()].map(({ retryAt }) => retryAt - now).filter(wait => wait > 0)
    const wait = Math.min(...plan.waiting.values(), ...retries)
    if (Number.isFinite(wait)) this.#timer = clock.after(wait, () => this.wake())
    this.#options.onChange()
  }

  /** Ends the worker, not the containers. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await Promise.all([...this.#busy.values(), ...[...this.#probes.values()].map(probes => probes.stop())])
  }

  #records(): ContainerRecord[] {
    return this.#options.runtime.containers().filter(({ podKey }) => podKey === this.#options.key)
  }

  /** On the node's network it has none. */
  #ownAddresses(): readonly string[] {
    const pod = this.#pod
    return (pod && !pod.spec.hostNetwork && this.#options.runtime.addresses?.(pod)) || []
  }

  #since(record: ContainerRecord): number {
    const { clock } = this.#options
    const now = clock.monotonic()
    let seen = this.#endSeen.get(record.id)
    if (seen === undefined) {
      // The wall clock may have jumped since it ended; it counts only for what ended before we looked.
      seen = now - Math.max(0, clock.now() - (record.finishedAt ?? clock.now()))
      this.#endSeen.set(record.id, seen)
    }
    return now - seen
  }

  #start(order: StartOrder): void {
    const { name } = order.container
    const { runtime, disk, log } = this.#options
    if (this.#mustWait('')) return
    const refusals = runtime.refusals(order.pod)
    if (refusals.length > 0) {
      this.#fail('', 'Unsupported', refusals.join('; '))
      return
    }
    this.#do(name, async () => {
      try {
        if (this.#prepared !== revisionOf(order.pod)) await prepareHostPaths(order.pod, disk)
      } catch (error) {
        return this.#fail('', 'ContainerCreating', messageOf(error))
      }
      this.#prepared = revisionOf(order.pod)
      this.#troubles.delete('')
      if (this.#stopping.signal.aborted || !this.#pod || revisionOf(this.#pod) !== revisionOf(order.pod))
        return
      try {
        await runtime.start(order)
        this.#troubles.delete(name)
        log.info('a container of a static pod was started', {
          pod: this.#options.key,
          container: name,
          restarts: order.attempt,
        })
      } catch (error) {
        const { reason, message, retry } = whyNotStarted(error)
        this.#fail(name, reason, message, retry)
      }
    })
  }

  async #stop(record: ContainerRecord): Promise<void> {
    const { runtime, clock, log, key } = this.#options
    const probes = this.#probes.get(record.id)
    const failed = probes?.failed
    log.info('a container of a static pod is stopped', {
      pod: key,
      container: record.container,
      why: failed ? `its ${failed} failed` : this.#pod ? 'its manifest changed' : 'its manifest is gone',
    })
    const pod = runtime.pods().find(pod => revisionOf(pod) === record.revision) ?? this.#pod
    const container = pod && containerOf(pod, record)
    const grace =
      (failed && container?.[failed]?.terminationGracePeriodSeconds) || (pod ? graceSeconds(pod) : 30)
    const preStop = container?.lifecycle?.preStop
    await stopGently(runtime, clock, record, preStop, grace, this.#stopping.signal, why =>
      log.warn('preStop of a static pod failed', { pod: key, container: record.container, why }),
    )
    this.#troubles.delete(record.id)
  }

  async #remove(record: ContainerRecord): Promise<void> {
    await this.#options.runtime.remove(record)
    this.#troubles.delete(record.id)
  }

  /** Something of this name is under way at most once; after it everything is looked at again. */
  #do(what: string, work: () => Promise<void>): void {
    if (this.#busy.has(what) || this.#mustWait(what)) return
    const { log, key } = this.#options
    const done = work()
      .catch(error => {
        log.warn('a step with a static pod failed', { pod: key, step: what, error: messageOf(error) })
        this.#fail(what, 'RuntimeError', messageOf(error))
      })
      .finally(() => {
        this.#busy.delete(what)
        this.wake()
      })
    this.#busy.set(what, done)
  }

  #mustWait(about: string): boolean {
    const trouble = this.#troubles.get(about)
    return trouble !== undefined && trouble.retryAt > this.#options.clock.monotonic()
  }

  #fail(about: string, reason: string, message: string, retry: Retry = 'container'): void {
    const { clock, log, key } = this.#options
    const before = this.#troubles.get(about)
    const failures = (before?.failures ?? 0) + 1
    const { first, most } = retries[retry]
    const delay = Math.min(most, first * 2 ** (failures - 1))
    // What the manifest asks for and cannot have stays so until it is edited.
    const retryAt = reason === 'Unsupported' ? Number.POSITIVE_INFINITY : clock.monotonic() + delay
    if (before?.message !== message)
      log.warn('a static pod cannot be started', { pod: key, reason, why: message })
    this.#troubles.set(about, { reason, message, failures, retryAt })
  }

  /** Probes for each running container that has some, and for no other. */
  #followProbes(records: readonly ContainerRecord[]): void {
    const pod = this.#pod
    const running = new Map(
      records
        .filter(record => record.state === 'Running' && pod && record.revision === revisionOf(pod))
        .map(record => [record.id, record]),
    )
    for (const [id, probes] of this.#probes) {
      if (running.has(id)) continue
      this.#probes.delete(id)
      void probes.stop()
    }
    for (const [id, record] of running) {
      const container = pod && containerOf(pod, record)
      if (!container || !hasProbes(container) || this.#probes.has(id)) continue
      const { runtime, address, ...ports } = this.#options
      const probes = new ContainerProbes({
        ...ports,
        container,
        address: this.#ownAddresses()[0] ?? address(),
        adopted: this.#adopted.has(id),
        exec: (command, signal, seconds) => runtime.exec(record, command, signal, seconds),
        onVerdict: () => this.wake(),
      })
      this.#probes.set(id, probes)
      probes.start()
    }
    const known = new Set(records.map(({ id }) => id))
    for (const id of this.#endSeen.keys()) if (!known.has(id)) this.#endSeen.delete(id)
  }
}

function containerOf({ spec }: StaticPod, { container }: ContainerRecord): Container | undefined {
  return [...(spec.initContainers ?? []), ...spec.containers].find(({ name }) => name === container)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
