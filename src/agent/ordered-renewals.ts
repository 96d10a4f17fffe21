import { type OrderedKind, orderedKinds, renewalOrder } from '../hold/renewal-order.ts'
import type { KubeNode } from '../kube/types.ts'
import type { Clock } from '../ports.ts'

/** Milliseconds that an order may be ahead of our clock: it is given by the clock of who types it. */
const toleratedSkew = 300_000

/**
 * Orders on our own Node to renew. Each is obeyed once: by its time alone, one from a clock that is ahead of the signer's
 * would be obeyed again and again.
 */
export class OrderedRenewals {
  readonly #clock: Clock
  readonly #renew: (kind: OrderedKind, since: number) => void
  readonly #obeyed = new Map<OrderedKind, number>()

  constructor(clock: Clock, renew: (kind: OrderedKind, since: number) => void) {
    this.#clock = clock
    this.#renew = renew
  }

  seen(node: KubeNode | undefined): void {
    for (const kind of orderedKinds) {
      const order = renewalOrder(node?.metadata.annotations, kind)
      if (order === undefined || order === this.#obeyed.get(kind)) continue
      if (order > this.#clock.now() + toleratedSkew) continue
      this.#obeyed.set(kind, order)
      this.#renew(kind, order)
    }
  }
}
