import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type Reflector, startReflector } from '../../kube/reflector.ts'
import type { KubeNode } from '../../kube/types.ts'
import { type Clock, type Log, type Random, sleep } from '../../ports.ts'
import { podKey, podResource } from '../pod.ts'
import type { StaticPods } from '../static-pods.ts'
import { type ApiPod, isMirror, isMirrorOf, mirrorPod, mirrorStatusPatch } from './mirror-pod.ts'
import { podStatus } from './pod-status.ts'
import type { PodView } from './pod-view.ts'

export interface MirrorPodsOptions {
  client: KubeClient
  nodeName: string
  pods: StaticPods
  clock: Clock
  random: Random
  log: Log
  hostAddress(): string | undefined
}

/** Milliseconds between two rounds, and after failed ones: doubling. */
const shortestInterval = 500
const longestRetry = 30_000

/**
 * Shows the static pods in the API, while there is one: a mirror pod for each, with its status, and none for what has
 * gone. Who deletes a mirror deletes nothing else; it comes back. Never touches the pods themselves.
 */
export class MirrorPods {
  readonly #options: MirrorPodsOptions
  readonly #stopping = new AbortController()
  #reflector: Reflector<ApiPod> | undefined
  #nodeUid: string | undefined
  #wanted = false
  #running: Promise<void> | undefined
  #lastError: string | undefined

  constructor(options: MirrorPodsOptions) {
    this.#options = options
  }

  /** The API can be reached with the node's own credential. */
  start(): void {
    if (this.#reflector || this.#stopping.signal.aborted) return
    const { client, clock, random, log, nodeName } = this.#options
    const reflector = startReflector<ApiPod>({
      client,
      resource: podResource,
      selectors: { fieldSelector: `spec.nodeName=${nodeName}` },
      clock,
      random,
      log,
      onChange: () => this.update(),
    })
    this.#reflector = reflector
    void reflector.synced.then(() => this.update())
  }

  /** There is no credential now. */
  async pause(): Promise<void> {
    const reflector = this.#reflector
    this.#reflector = undefined
    await reflector?.stop()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.pause()
    await this.#running
  }

  /** Mirror pods belong to the Node object; a new one needs new ones. */
  nodeSeen(node: KubeNode | undefined): void {
    if (node?.metadata.uid === this.#nodeUid) return
    this.#nodeUid = node?.metadata.uid
    this.update()
  }

  /** Something may have changed, here or in the API. */
  update(): void {
    this.#wanted = true
    if (this.#stopping.signal.aborted || this.#running || !this.#canRun()) return
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      if (this.#wanted) this.update()
    })
  }

  #canRun(): boolean {
    return this.#nodeUid !== undefined && (this.#reflector?.hasSynced() ?? false)
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    let failures = 0
    while (this.#wanted && this.#canRun() && !signal.aborted) {
      this.#wanted = false
      const problems = await this.#round()
      const problem = problems[0]
      if (problem !== undefined && problem !== this.#lastError)
        log.warn('static pods cannot be shown in the API', { why: problem })
      this.#lastError = problem
      failures = problem === undefined ? 0 : failures + 1
      if (problem !== undefined) this.#wanted = true
      await sleep(clock, Math.min(longestRetry, shortestInterval * 2 ** failures), signal)
    }
  }

  /** One look at everything; one pod's trouble does not hold up the others. */
  async #round(): Promise<string[]> {
    const views = this.#options.pods.views()
    const wanted = new Set(views.map(({ pod }) => podKey(pod)))
    const gone = (this.#reflector?.list() ?? []).filter(
      found => isMirror(found) && !wanted.has(`${found.metadata.namespace}/${found.metadata.name}`),
    )
    const steps = [
      ...views.map(view => () => this.#show(view)),
      ...gone.map(found => () => this.#delete(found)),
    ]
    const problems: string[] = []
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        if (!this.#stopping.signal.aborted)
          problems.push(error instanceof Error ? error.message : String(error))
      }
    }
    return problems
  }

  async #show(view: PodView): Promise<void> {
    const { client, clock, nodeName, hostAddress } = this.#options
    const node = this.#nodeUid === undefined ? undefined : { name: nodeName, uid: this.#nodeUid }
    if (!node) return
    const { signal } = this.#stopping
    const { pod } = view
    let found = this.#reflector?.get(podKey(pod))
    if (found && !isMirrorOf(found, pod, node)) {
      await this.#delete(found)
      found = undefined
    }
    found ??= await client.create(podResource, mirrorPod(pod, node), { signal })
    const patch = mirrorStatusPatch(found, podStatus(view, hostAddress()), clock.now())
    const { name, namespace } = pod.metadata
    if (patch)
      await client.patch(podResource, { name, namespace, subresource: 'status' }, 'merge', patch, signal)
  }

  async #delete({ metadata }: ApiPod): Promise<void> {
    const { client } = this.#options
    const target = { name: metadata.name, ...(metadata.namespace && { namespace: metadata.namespace }) }
    const { signal } = this.#stopping
    try {
      const uid = metadata.uid ? { uid: metadata.uid } : {}
      await client.delete(podResource, target, { ...uid, gracePeriodSeconds: 0, signal })
    } catch (error) {
      // Deleted by somebody else, or another object by now: the next look shows it.
      if (!isStatus(error, 'NotFound') && !isStatus(error, 'Conflict')) throw error
    }
  }
}
