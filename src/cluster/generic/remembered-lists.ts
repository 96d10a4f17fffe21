/** Lists that may be long and change what is decided only slowly: read again after a while, or when they have to be newer. */
import type { KubeObject } from '../../kube/types.ts'
import type { Clock } from '../../ports.ts'

/** Milliseconds. */
const fresh = 60_000

export class RememberedLists {
  readonly #clock: Clock
  readonly #known = new Map<string, { at: number; items: readonly KubeObject[] }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What `read` gave last, if it was begun after `since` (milliseconds since the epoch) and not long ago. */
  async list(
    name: string,
    since: number,
    read: () => Promise<readonly KubeObject[]>,
  ): Promise<readonly KubeObject[]> {
    const at = this.#clock.now()
    const known = this.#known.get(name)
    if (known && known.at > since && at >= known.at && at - known.at < fresh) return known.items
    const items = await read()
    this.#known.set(name, { at, items })
    return items
  }
}
