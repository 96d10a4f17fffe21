/** What each node is told, collected during a turn and written as the annotation of its role when it has changed. */
import { isStatus } from '../../kube/client.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { encodeOrders, type NodeOrder, ordersAnnotation } from '../../trust/node-orders.ts'
import type { EmbeddedControl } from './embedded-control.ts'

export class OrderBook {
  readonly #control: Pick<EmbeddedControl, 'client' | 'reader' | 'log'>
  readonly #role: TrustRole
  #orders = new Map<string, NodeOrder[]>()

  constructor(control: Pick<EmbeddedControl, 'client' | 'reader' | 'log'>, role: TrustRole) {
    this.#control = control
    this.#role = role
  }

  add(node: string, order: NodeOrder): void {
    const known = this.#orders.get(node) ?? []
    const text = JSON.stringify(order)
    if (!known.some(other => JSON.stringify(other) === text)) this.#orders.set(node, [...known, order])
  }

  /** Writes what was added since the last time, under this fence; a node that is told nothing new is left alone. */
  async send({ token, sequence }: { token: number; sequence: number }): Promise<void> {
    const { reader, client, log } = this.#control
    const orders = this.#orders
    this.#orders = new Map()
    const name = ordersAnnotation(this.#role)
    const writes = reader.list<KubeNode>(resources.nodes).map(async node => {
      const before = node.metadata.annotations?.[name]
      const list = orders.get(node.metadata.name) ?? []
      if (before === undefined ? list.length === 0 : withoutFence(before) === bare(list)) return
      const annotations = { [name]: encodeOrders({ token, sequence, orders: list }) }
      try {
        await client.patch(resources.nodes, { name: node.metadata.name }, 'merge', {
          metadata: { annotations },
        })
      } catch (error) {
        if (!isStatus(error, 'NotFound')) log.warn('a node cannot be given orders', { error: String(error) })
      }
    })
    await Promise.all(writes)
  }
}

function bare(orders: readonly NodeOrder[]): string {
  return withoutFence(encodeOrders({ token: 0, sequence: 0, orders }))
}

function withoutFence(text: string): string {
  return text.split('\n').slice(1).join('\n')
}
