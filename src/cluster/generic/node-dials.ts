/** Kubelets of a cluster that is not ours: whose client certificates each lets in. */
import type { KubeNode } from '../../kube/types.ts'
import type { Clock, Random } from '../../ports.ts'
import { issuePair, type KeyPair } from '../issue-pair.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { statusFor } from '../rollover/handshakes.ts'

/** Milliseconds that an answer is used: kubelets are many. */
const fresh = { answered: 30_000, silent: 5000 }
/** Handshakes at a time. */
const atOnce = 16

export class NodeDials {
  readonly #cas: CaStore
  readonly #clock: Clock
  readonly #random: Random
  readonly #known = new Map<string, { at: number; status: number | undefined }>()
  readonly #canaries = new Map<number, KeyPair>()
  #underWay = 0
  readonly #waiting: (() => void)[] = []

  constructor({ cas, clock, random }: { cas: CaStore; clock: Clock; random: Random }) {
    this.#cas = cas
    this.#clock = clock
    this.#random = random
  }

  now(): number {
    return this.#clock.now()
  }

  /**
   * Which of the CAs' certificates the kubelet of this node lets in (200, or 403: it knows who it is), and which not (401).
   * `since` stands for what it judges by: when that changes, it is tried again.
   */
  async tried(
    node: KubeNode,
    authorities: readonly number[],
    since: number,
  ): Promise<{ accepts: number[]; refuses: number[] }> {
    const answers = await Promise.all(
      authorities.map(async one => ({ one, status: await this.#status(node, one, since) })),
    )
    const of = (...wanted: number[]) =>
      answers.flatMap(({ one, status }) => (status !== undefined && wanted.includes(status) ? [one] : []))
    return { accepts: of(200, 403), refuses: of(401) }
  }

  /** Those of the CAs that it lets in. */
  async accepted(node: KubeNode, authorities: readonly number[]): Promise<number[]> {
    return (await this.tried(node, authorities, 0)).accepts
  }

  async #status(node: KubeNode, authority: number, since: number): Promise<number | undefined> {
    const host = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
    if (host === undefined || port === undefined) return undefined
    const key = `${node.metadata.name} ${host}:${port} ${authority} ${since}`
    const known = this.#known.get(key)
    const now = this.#clock.monotonic()
    const isFresh = known && now - known.at < (known.status === undefined ? fresh.silent : fresh.answered)
    if (isFresh) return known.status
    await this.#turn()
    try {
      const pair = await this.#canary(authority)
      const status = pair && (await statusFor({ host, port }, '/healthz', pair, this.#clock))
      this.#known.set(key, { at: this.#clock.monotonic(), status })
      return status
    } finally {
      this.#underWay -= 1
      this.#waiting.shift()?.()
    }
  }

  async #turn(): Promise<void> {
    if (this.#underWay >= atOnce) await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#underWay += 1
  }

  async #canary(authority: number): Promise<KeyPair | undefined> {
    const known = this.#canaries.get(authority)
    const ca = this.#cas.authority('client', authority)
    if (known || !ca) return known
    const identity = { commonName: 'rollcall:canary', organizations: [], usage: 'client auth' } as const
    const year = 365 * 86_400_000
    const pair = await issuePair(ca, { ...identity, lifetime: year, now: this.#clock.now() }, this.#random)
    this.#canaries.set(authority, pair)
    return pair
  }
}
