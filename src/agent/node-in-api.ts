import type { KubeClient } from '../kube/client.ts'
import type { KubeNode } from '../kube/types.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import type { NodeFacts } from './node-object.ts'
import type { NodePresence } from './node-presence.ts'
import { NodeWatch } from './node-watch.ts'
import { OrderedRenewals } from './ordered-renewals.ts'
import { createPresence } from './presence-side.ts'

export interface NodeInApiParts {
  options: AgentOptions
  ports: AgentPorts
  /** The API under the node's own certificate. */
  client: KubeClient
  /** Whether there is one. */
  ready(): boolean
  facts(): NodeFacts
  /** Of the Lease. */
  annotations(): Record<string, string> | undefined
  /** The Node as the API shows it; undefined: it is gone. */
  onNode(node: KubeNode | undefined): void
  /** The API answered; whether it is the right one is known then. */
  onBeat(): void
  /** Nobody has answered several times. */
  onSilence(): void
  /** The Node is registered, or is not any more. */
  onRegistration(): void
  /** The certificate of this kind is to be issued after this moment (milliseconds since the epoch). */
  renew(kind: 'client' | 'serving', since: number): void
}

/** This node in the API: its Node and Lease are kept, and what others say by its Node is heard. */
export class NodeInApi {
  readonly #parts: NodeInApiParts
  readonly #presence: NodePresence
  readonly #watch: NodeWatch
  readonly #renewals: OrderedRenewals
  #wasRegistered = false
  #error: string | undefined

  constructor(parts: NodeInApiParts) {
    this.#parts = parts
    const { options, ports } = parts
    this.#renewals = new OrderedRenewals(ports.clock, (kind, since) => parts.renew(kind, since))
    this.#presence = createPresence({
      ...parts,
      onBeat: error => {
        this.#error = error
        this.#tellRegistration()
        if (error === undefined) parts.onBeat()
      },
    })
    this.#watch = new NodeWatch({
      ...ports,
      client: parts.client,
      nodeName: options.nodeName,
      watchSeconds: options.watchTimeoutSeconds,
      onNode: node => this.#onNode(node),
    })
  }

  /** Why the latest beat failed; undefined: it did not. */
  get error(): string | undefined {
    return this.#error
  }

  /** The Node is in the API, as far as is known. */
  get registered(): boolean {
    return this.#presence.registered
  }

  start(): void {
    this.#presence.start()
  }

  /** Something is to be published: at once, or as soon as it may be. */
  wake(): void {
    this.#presence.wake()
  }

  connected(): void {
    this.#watch.start()
    this.#presence.wake()
  }

  disconnected(): void {
    void this.#watch.stop()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#presence.stop(), this.#watch.stop()])
  }

  #onNode(node: KubeNode | undefined): void {
    this.#presence.seen(node)
    this.#renewals.seen(node)
    this.#parts.onNode(node)
    this.#tellRegistration()
  }

  #tellRegistration(): void {
    if (this.#presence.registered === this.#wasRegistered) return
    this.#wasRegistered = this.#presence.registered
    this.#parts.onRegistration()
  }
}
