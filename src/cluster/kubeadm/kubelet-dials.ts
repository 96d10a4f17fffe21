/** Whose client certificates each kubelet lets in, by handshakes from here. */
import type { KubeNode } from '../../kube/types.ts'
import type { Clock } from '../../ports.ts'
import type { ApiServerTrials } from './api-server-trials.ts'

/** Milliseconds that an answer is used: kubelets are many, and one that is hoped for is asked for again soon. */
const fresh = { settled: 60_000, hoped: 5000 }
/** Handshakes at a time. */
const atOnce = 16

interface Answer {
  at: number
  accepted: boolean
}

export class KubeletDials {
  readonly #trials: Pick<ApiServerTrials, 'answers'>
  readonly #clock: Clock
  readonly #known = new Map<string, Answer>()
  readonly #waiting: (() => void)[] = []
  #underWay = 0

  constructor(trials: Pick<ApiServerTrials, 'answers'>, clock: Clock) {
    this.#trials = trials
    this.#clock = clock
  }

  /** Those of the CAs whose certificates it lets in; `anchors`: those that it should, by the bundle it was told of. */
  async accepted(
    node: KubeNode,
    authorities: readonly number[],
    anchors: readonly number[],
  ): Promise<number[]> {
    const host = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
    if (host === undefined || port === undefined) return []
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
    const tried = await Promise.all(
      authorities.map(async one => ((await this.#accepts(server, one, anchors.includes(one))) ? [one] : [])),
    )
    return tried.flat()
  }

  async #accepts(server: string, authority: number, wanted: boolean): Promise<boolean> {
    const key = `${server} ${authority}`
    const known = this.#known.get(key)
    const now = this.#clock.monotonic()
    const lasts = known?.accepted === wanted ? fresh.settled : fresh.hoped
    if (known && now - known.at < lasts) return known.accepted
    if (this.#underWay >= atOnce) await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#underWay += 1
    try {
      const accepted = (await this.#trials.answers(server, authority, '/healthz')) === 'accepts'
      this.#known.set(key, { at: this.#clock.monotonic(), accepted })
      return accepted
    } finally {
      this.#underWay -= 1
      this.#waiting.shift()?.()
    }
  }
}
