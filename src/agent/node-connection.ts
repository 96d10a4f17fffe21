import type { KeyPair } from '../hold/key-pair.ts'
import type { Connect, ConnectionConfig, Transport } from '../kube/transport.ts'
import type { ApiSession } from './api-session.ts'
import type { NodeEndpoint } from './node-endpoint.ts'

export interface NodeConnectionOptions {
  connect: Connect
  session: ApiSession
  endpoint: NodeEndpoint
  /** The client certificate in force; undefined: none, or it has lapsed. */
  certificate(): { pair: KeyPair; serial: string } | undefined
  /** The session uses another certificate or server from now on. */
  onConnected(): void
  /** There is no certificate any more. */
  onDisconnected(): void
}

/** Lets the session follow the certificate in force and the API server's whereabouts. */
export class NodeConnection {
  readonly #options: NodeConnectionOptions
  #used: { serial: string; endpoint: unknown } | undefined
  /** How the session connects now. */
  #way: { config: ConnectionConfig; transport: Transport } | undefined
  #stopped = false

  constructor(options: NodeConnectionOptions) {
    this.#options = options
  }

  /** The certificate may have changed. One that has lapsed is dropped at once. */
  follow(): void {
    if (this.#options.certificate()) void this.#reconnect()
    else this.#disconnect()
  }

  /** The API server does not answer: looks for it elsewhere, or else opens new connections (K-55). */
  async retryElsewhere(): Promise<void> {
    if (await this.#options.endpoint.tryAnother()) this.#connect()
    else this.#options.session.closeConnections()
  }

  /** The API server is trusted by other CAs from now on. */
  trustChanged(): void {
    this.#connect()
  }

  /**
   * How to reach the API under the certificate in force, the same value until that changes; undefined: not now. Rejects
   * with the error of a token that cannot be used.
   */
  async way(): Promise<ConnectionConfig | undefined> {
    const way = this.#way
    const socketPath = await way?.transport.plainSocket?.()
    if (!way || socketPath === undefined || socketPath === way.config.socketPath) return way?.config
    const server = way.config.server.replace(/^https:/, 'http:')
    this.#way = { ...way, config: { server, socketPath } }
    return this.#way.config
  }

  stop(): void {
    this.#stopped = true
    this.#options.session.use(undefined)
  }

  async #reconnect(): Promise<void> {
    const { certificate, endpoint } = this.#options
    // With each new certificate the CA is read again too (K-60: a kubelet never does).
    if (certificate()?.serial !== this.#used?.serial) await endpoint.refresh()
    this.#connect()
  }

  #connect(): void {
    const { connect, session, endpoint, certificate, onConnected } = this.#options
    const held = certificate()
    const { current } = endpoint
    if (!held || !current || this.#stopped) return
    const { pair, serial } = held
    if (this.#used?.serial === serial && this.#used.endpoint === current) return
    this.#used = { serial, endpoint: current }
    const clientCertificate = { certificate: pair.chain, key: pair.key }
    const config = { ...current.connection, clientCertificate }
    const transport = connect(config)
    this.#way = { config, transport }
    session.use({ transport, serial })
    onConnected()
  }

  #disconnect(): void {
    if (!this.#used) return
    this.#used = undefined
    this.#way = undefined
    this.#options.session.use(undefined)
    this.#options.onDisconnected()
  }
}
