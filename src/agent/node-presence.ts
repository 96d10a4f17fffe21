import { isStatus, type KubeClient } from '../kube/client.ts'
import { type KubeNode, type Lease, resources } from '../kube/types.ts'
import { createWatchdog } from '../kube/watchdog.ts'
import { type Clock, type Log, type Random, sleep } from '../ports.ts'
import { annotateLease, renewLease } from './node-lease.ts'
import { type NodeFacts, statusPatch } from './node-object.ts'
import { registerNode, reportStatus } from './node-registration.ts'

export interface NodePresenceOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** Whether the node has a credential; without one it waits for `wake`. */
  ready(): boolean
  /** What is to be published now. */
  facts(): NodeFacts
  /** Of the lease, also where that is somebody else's. */
  annotations?(): Record<string, string> | undefined
  /** Node and lease are somebody else's (a kubelet's beside): a beat only looks whether the API answers. Default false. */
  looksOnly?: boolean
  leaseDurationSeconds: number
  renewIntervalSeconds: number
  statusReportSeconds: number
  /** After each successful beat, and each failed one with the number of failures in a row. */
  onBeat(): void
  onFailure(error: unknown, failures: number): void
}

/** Milliseconds; the kubelet's heartbeat client gives up as soon (K-1). */
const beatTimeout = 10_000
/**
 * Milliseconds before another try: from 0.2 s doubling to 7 s, as the kubelet's lease controller and registration do; to a
 * tenth of the interval where that is longer, so that who reports rarely does not ask often.
 */
const firstRetry = 200
const longestRetry = 7000
/** Milliseconds until what was said in a lease that somebody else renews is said again: it tells when it was last true. */
const repeatAfter = 60_000
/** Milliseconds between two beats that others caused: a controller that writes the same fields must not drive us. */
const shortestInterval = 1000

/**
 * Keeps the node known to the cluster: registers its Node, again whenever it is gone, reports its status, renews its
 * lease. One loop with one timer; every beat starts from what is true then. It never ends before `stop`.
 */
export class NodePresence {
  readonly #options: NodePresenceOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #sleep = new AbortController()
  /** The Node as last seen, by us or by the watch. */
  #node: KubeNode | undefined
  #lease: Lease | undefined
  #reportedAt: number
  /** Something is to be told by the annotations of the lease. */
  #news = true
  #failures = 0

  constructor(options: NodePresenceOptions) {
    this.#options = options
    this.#reportedAt = options.clock.monotonic()
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#sleep.abort()
    await this.#running
  }

  get registered(): boolean {
    return this.#node !== undefined
  }

  /** Something changed: beat now, or as soon as it may be. */
  wake(): void {
    this.#news = true
    this.#sleep.abort()
  }

  /** What the watch shows of our Node; undefined: it is gone. */
  seen(node: KubeNode | undefined): void {
    if (node && version(node) < version(this.#node)) return
    this.#node = node
    const { facts, clock, looksOnly } = this.#options
    if (looksOnly) return
    // Our own writes come back too: only what is not as we want it is a reason to act.
    if (!node || statusPatch(node, facts(), clock.now(), false)) this.wake()
  }

  async #run(): Promise<void> {
    const { clock, random, renewIntervalSeconds } = this.#options
    const { signal } = this.#stopping
    const interval = renewIntervalSeconds * 1000
    while (!signal.aborted) {
      this.#sleep = new AbortController()
      let wait = interval * (1 + 0.04 * random.float())
      if (!this.#options.ready()) {
        await aborted(this.#sleep.signal)
        continue
      }
      try {
        await this.#beat()
        this.#failures = 0
        this.#options.onBeat()
      } catch (error) {
        if (signal.aborted) return
        wait = Math.min(firstRetry * 2 ** this.#failures++, Math.max(longestRetry, interval / 10), interval)
        this.#options.onFailure(error, this.#failures)
      }
      const began = clock.monotonic()
      await sleep(clock, wait, this.#sleep.signal)
      const rest = Math.min(shortestInterval, wait) - (clock.monotonic() - began)
      if (rest > 0) await sleep(clock, rest, signal)
    }
  }

  async #beat(): Promise<void> {
    const { client, clock, statusReportSeconds, looksOnly } = this.#options
    const watchdog = createWatchdog(clock, this.#stopping.signal, beatTimeout)
    const { signal } = watchdog
    try {
      const facts = this.#options.facts()
      if (looksOnly) return await this.#look(facts, signal)
      this.#node ??= await registerNode(client, facts, clock.now(), signal)
      const due = clock.monotonic() - this.#reportedAt >= statusReportSeconds * 1000
      await this.#report(this.#node, facts, due, signal)
      await this.#renew(facts, signal)
    } finally {
      watchdog.stop()
    }
  }

  async #look(facts: NodeFacts, signal: AbortSignal): Promise<void> {
    const { nodeName: name } = facts
    try {
      this.#node = await this.#options.client.get<KubeNode>(resources.nodes, { name }, signal)
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
      this.#node = undefined
    }
    await this.#tell(name, signal)
  }

  /** In a lease that a kubelet renews, and makes: until it is there, nothing can be said. */
  async #tell(name: string, signal: AbortSignal): Promise<void> {
    const { client, clock, annotations } = this.#options
    const isDue = this.#news || clock.monotonic() - this.#reportedAt >= repeatAfter
    const said = isDue && this.#node ? annotations?.() : undefined
    if (!said) return
    this.#news = false
    try {
      await annotateLease(client, name, said, signal)
      this.#reportedAt = clock.monotonic()
    } catch (error) {
      this.#news = true
      if (!isStatus(error, 'NotFound')) throw error
    }
  }

  async #report(node: KubeNode, facts: NodeFacts, due: boolean, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options
    try {
      const reported = await reportStatus(client, node, facts, clock.now(), due, signal)
      if (reported !== node) this.#reportedAt = clock.monotonic()
      if (this.#node === node) this.#node = reported
    } catch (error) {
      // Deleted behind our back: register again with the next beat.
      if (isStatus(error, 'NotFound')) this.#node = undefined
      throw error
    }
  }

  async #renew({ nodeName }: NodeFacts, signal: AbortSignal): Promise<void> {
    const { client, clock, leaseDurationSeconds, annotations } = this.#options
    const nodeUid = this.#node?.metadata.uid
    if (nodeUid === undefined) return
    const said = annotations?.()
    const facts = {
      nodeName,
      nodeUid,
      durationSeconds: leaseDurationSeconds,
      ...(said && { annotations: said }),
    }
    this.#lease = await renewLease(client, this.#lease, facts, () => clock.now(), signal)
  }
}

/** Versions of one object grow; ours from a PATCH may be newer than the watch's. */
function version(node: KubeNode | undefined): number {
  return Number(node?.metadata.resourceVersion ?? 0)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
