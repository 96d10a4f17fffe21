import type { KubeClient } from '../kube/client.ts'
import { type Reflector, startReflector } from '../kube/reflector.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import type { Clock, Log, Random } from '../ports.ts'

export interface NodeWatchOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  nodeName: string
  watchSeconds: number | undefined
  /** Our Node as the API shows it; undefined: there is none. */
  onNode(node: KubeNode | undefined): void
}

/** Follows the node's own Node object, which is all of them that a node may see, while there is a credential. */
export class NodeWatch {
  readonly #options: NodeWatchOptions
  #reflector: Reflector<KubeNode> | undefined

  constructor(options: NodeWatchOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#reflector) return
    const { client, clock, random, log, nodeName, watchSeconds, onNode } = this.#options
    const reflector = startReflector<KubeNode>({
      client,
      resource: resources.nodes,
      selectors: { fieldSelector: `metadata.name=${nodeName}` },
      clock,
      random,
      log,
      ...(watchSeconds !== undefined && { watchSeconds }),
      onChange: (type, node) => {
        if (this.#reflector === reflector) onNode(type === 'DELETED' ? undefined : node)
      },
    })
    this.#reflector = reflector
    void reflector.synced.then(() => {
      // A Node that was deleted while nobody watched gives no event.
      if (this.#reflector === reflector && reflector.hasSynced() && !reflector.get(nodeName))
        onNode(undefined)
    })
  }

  async stop(): Promise<void> {
    const reflector = this.#reflector
    this.#reflector = undefined
    await reflector?.stop()
  }
}
