import { revisionOf, type StaticPod } from '../pod.ts'
import type { Cri } from './cri.ts'
import type { PodSandboxConfig } from './cri-types.ts'
import { criAnnotations, labels } from './labels.ts'
import { type ConfigFacts, sandboxConfig } from './pod-config.ts'
import { attemptOf, type RuntimeContents, usableSandbox } from './read-runtime.ts'

export interface UsableSandbox {
  id: string
  config: PodSandboxConfig
}

/** The sandboxes in which pods run: one each, made when the first container is to start and whenever it is lost. */
export class PodSandboxes {
  readonly #cri: Cri
  readonly #contents: () => RuntimeContents
  /** Being made, by uid: containers of one pod start side by side. */
  readonly #making = new Map<string, Promise<UsableSandbox>>()
  /** Names of attempts stay taken for a while where one failed. */
  readonly #tried = new Map<string, number>()

  constructor(cri: Cri, contents: () => RuntimeContents) {
    this.#cri = cri
    this.#contents = contents
  }

  provide(pod: StaticPod, facts: ConfigFacts): Promise<UsableSandbox> {
    const { uid } = pod.metadata
    const making = this.#making.get(uid) ?? this.#provide(pod, facts).finally(() => this.#making.delete(uid))
    this.#making.set(uid, making)
    return making
  }

  async #provide(pod: StaticPod, facts: ConfigFacts): Promise<UsableSandbox> {
    const { uid } = pod.metadata
    const there = usableSandbox(this.#contents(), uid, revisionOf(pod))
    if (there) return { id: there.id, config: sandboxConfig(pod, attemptOf(there), facts) }
    const others = this.#contents().sandboxes.filter(({ labels: of }) => of[labels.podUid] === uid)
    // A manifest that keeps its uid was edited: the old pod's containers have ended.
    for (const { id, annotations } of others) {
      if (annotations[criAnnotations.revision] !== revisionOf(pod)) await this.#cri.stopPodSandbox(id)
    }
    const attempt = Math.max(-1, this.#tried.get(uid) ?? -1, ...others.map(attemptOf)) + 1
    this.#tried.set(uid, attempt)
    const config = sandboxConfig(pod, attempt, facts)
    const id = await this.#cri.runPodSandbox(config)
    this.#tried.delete(uid)
    return { id, config }
  }
}
