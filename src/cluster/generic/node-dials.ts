/** Kubelets of a cluster that is not ours: whose client certificates each lets in. */
import type { KubeNode } from '../../kube/types.ts'
import type { Clock, Random } from '../../ports.ts'
import { issuePair, type KeyPair } from '../issue-pair.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { statusFor } from '../rollover/handshakes.ts'

/** Milliseconds that an answer is used: kubelets are many. */
const fresh = { yes: 60_000, no: 5000 }
/** Handshakes at a time. */
const atOnce = 16

export class NodeDials {
  readonly #cas: CaStore
  readonly #clock: Clock
  readonly #random: Random
  readonly #known = new Map<string, { at: number; accepted: boolean }>()
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

  /** Those of the CAs whose certificates the kubelet of this node lets in (200, or 403: it knows who it is). */
  async accepted(node: KubeNode, authorities: readonly number[]): Promise<number[]> {
    const tried = await Promise.all(
      authorities.map(async one => ((await this.#accepts(node, one)) ? [one] : [])),
    )
    return tried.flat()
  }

  async #accepts(node: KubeNode, authority: number): Promise<boolean> {
    const host = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port
    if (host === undefined || port === undefined) return false
    const key = `${node.metadata.name} ${host}:${port} ${authority}`
    const known = this.#known.get(key)
    const now = this.#clock.monotonic()
    if (known && now - known.at < (known.accepted ? fresh.yes : fresh.no)) return known.accepted
    await this.#turn()
    try {
      const pair = await this.#canary(authority)
      const status = pair && (await statusFor({ host, port }, '/healthz', pair, this.#clock))
      const accepted = status === 200 || status === 403
      this.#known.set(key, { at: this.#clock.monotonic(), accepted })
      return accepted
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
