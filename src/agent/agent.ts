import { posix } from 'node:path'
import type { CertificateManager } from '../hold/certificate-manager.ts'
import { createCertificateStore } from '../hold/certificate-store.ts'
import { createCredentialChain } from '../join/credential-sources.ts'
import { servingTemplate } from '../join/template.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import { createClient } from '../kube/client.ts'
import type { KubeNode, NodeAddress } from '../kube/types.ts'
import type { AgentMetrics } from './agent-metrics.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { type AgentPods, createAgentPods } from './agent-pods.ts'
import { type AgentStatus, agentStatus } from './agent-status.ts'
import type { AgentTrust } from './agent-trust.ts'
import { ApiSession } from './api-session.ts'
import { type BesideKubelet, createBesideKubelet } from './beside-kubelet/beside-kubelet.ts'
import { type KubeletOfTrust, kubeletOfTrust } from './beside-kubelet/kubelet-beside.ts'
import type { ControlPlane } from './control-plane/control-plane.ts'
import { createControlPlane } from './control-plane/control-plane-side.ts'
import { credentialSources } from './credential-chain.ts'
import { createHttpsSide } from './https-side.ts'
import { Listeners } from './listeners.ts'
import { createNodeCertificates } from './node-certificates.ts'
import { NodeConnection } from './node-connection.ts'
import { NodeEndpoint } from './node-endpoint.ts'
import { NodeInApi } from './node-in-api.ts'
import type { NodeFacts } from './node-object.ts'
import type { NodeServer } from './node-server.ts'
import { createTokenSide, type TokenSide } from './token-side.ts'
import { createTrustSide } from './trust-side.ts'

export interface Agent {
  status(): AgentStatus
  /** Called when a certificate, the registration or the port changed. The function returned ends it. */
  onChange(listener: () => void): () => void
  /** The node's addresses are these from now on: they are published, and the serving certificate follows (K-72). */
  setAddresses(addresses: readonly NodeAddress[]): void
  /** Ends everything; resolves when no request, timer or socket is left. */
  stop(): Promise<void>
}

/**
 * Starts the node side of a cluster: gets the client certificate with a bootstrap credential and keeps it, registers the
 * Node and keeps its lease, gets the serving certificate for the addresses that the Node shows and keeps it, and serves
 * HTTPS with it. Returns at once, and nothing waits for anything it does not need; whatever fails is tried
 * again, for ever.
 */
export function startAgent(options: AgentOptions, ports: AgentPorts): Agent {
  const agent = new NodeAgent(options, ports)
  agent.start()
  return agent
}

class NodeAgent implements Agent {
  readonly #options: AgentOptions
  readonly #keyAlgorithm: KeyAlgorithm
  readonly #listeners: Listeners
  readonly #stopping = new AbortController()
  readonly #session: ApiSession
  readonly #endpoint: NodeEndpoint
  readonly #client: CertificateManager
  readonly #serving: CertificateManager
  readonly #connection: NodeConnection
  readonly #node: NodeInApi
  readonly #metrics: AgentMetrics
  readonly #server: NodeServer | undefined
  readonly #pods: AgentPods | undefined
  readonly #token: TokenSide
  readonly #trust: AgentTrust
  readonly #controlPlane: ControlPlane | undefined
  readonly #beside: BesideKubelet | undefined
  readonly #kubelet: KubeletOfTrust | undefined
  #addresses: readonly NodeAddress[]
  #started: Promise<void> = Promise.resolve()

  constructor(options: AgentOptions, ports: AgentPorts) {
    const { clock, disk, log } = ports
    this.#options = options
    this.#listeners = new Listeners(log)
    this.#addresses = options.addresses
    this.#keyAlgorithm = options.keyAlgorithm ?? 'ECDSA-P256'
    this.#session = new ApiSession((serial, status) => {
      if (status === 401) this.#client.reportRejected(serial)
      else if (status < 500) this.#client.reportAccepted(serial)
    })
    const client = createClient(this.#session)
    const { certDirectory: directory, bootstrapKubeconfigPath, kubeconfigPath, nodeName } = options
    const store = createCertificateStore({ disk, clock, log, directory, prefix: 'kubelet-client' })
    this.#endpoint = new NodeEndpoint({
      ...ports,
      kubeconfigPath,
      bootstrapKubeconfigPath,
      currentPairPath: store.currentPath,
      onChange: () => this.#beside?.filesMayHaveChanged(),
    })
    this.#pods = createAgentPods(options, ports, {
      client,
      onReadiness: () => this.#client.retryNow(),
    })
    this.#token = createTokenSide(options, ports, this.#endpoint, certificate => this.#keyGone(certificate))
    const sources = credentialSources(options, ports, {
      pods: this.#pods,
      endpoint: this.#endpoint,
      fromTokens: this.#token.sources,
    })
    const certificates = createNodeCertificates({
      options,
      ports,
      keyAlgorithm: this.#keyAlgorithm,
      client,
      store,
      chain: createCredentialChain(sources),
      token: this.#token,
      endpoint: this.#endpoint,
      onUnreachable: () => void this.#trust.catchUp(),
    })
    this.#client = certificates.client
    this.#serving = certificates.serving
    this.#metrics = certificates.metrics
    this.#connection = new NodeConnection({
      connect: this.#token.connect,
      session: this.#session,
      endpoint: this.#endpoint,
      certificate: () => {
        const pair = this.#client.current()
        return pair && { pair, serial: this.#client.status().serial ?? '' }
      },
      onConnected: () => {
        this.#pods?.connected()
        this.#node.connected()
        this.#serving.setAble(true)
      },
      onDisconnected: () => {
        if (options.serverTLSBootstrap) this.#serving.setAble(false)
        this.#node.disconnected()
        this.#pods?.disconnected()
      },
    })
    this.#kubelet = kubeletOfTrust(options.besideKubelet, ports, {
      trust: () => this.#trust,
      onReport: () => this.#node.wake(),
    })
    this.#trust = createTrustSide({
      options,
      ports,
      client,
      endpoint: this.#endpoint,
      ...(this.#kubelet && { kubelet: this.#kubelet.beside }),
      held: { client: this.#client, serving: this.#serving },
      connect: this.#token.connect,
      onTrustChanged: () => this.#connection.trustChanged(),
      onReport: () => this.#node.wake(),
    })
    this.#controlPlane = createControlPlane({
      options,
      ports,
      client,
      certificate: this.#client,
      onReport: () => this.#node.wake(),
    })
    this.#node = new NodeInApi({
      options,
      ports,
      client,
      ready: () => this.#session.ready,
      facts: () => this.#facts(),
      annotations: () => {
        const said = this.#trust.annotations()
        return this.#controlPlane ? { ...said, ...this.#controlPlane.annotations() } : said
      },
      onNode: node => this.#onNode(node),
      onBeat: () => {
        void this.#endpoint.confirm()
        this.#kubelet?.look()
      },
      onSilence: () => {
        void this.#connection.retryElsewhere()
        void this.#trust.catchUp()
      },
      onRegistration: () => this.#listeners.tell(),
      renew: (kind, since) => {
        if (kind === 'client') this.#client.renewUnlessSince(since)
        else if (options.serverTLSBootstrap) this.#serving.renewUnlessSince(since)
      },
    })
    this.#server = createHttpsSide({
      options,
      ports,
      client,
      pods: this.#pods?.served,
      callerAnchors: () =>
        this.#trust.anchors('client') ?? this.#endpoint.current?.connection.certificateAuthority ?? '',
      metrics: () => this.#metrics.text(),
      certificate: () => this.#serving.current(),
      handshakes: this.#token.serving?.handshakes,
      onListening: () => {
        this.#node.wake()
        this.#listeners.tell()
      },
    })
    this.#beside = createBesideKubelet(options.besideKubelet, ports, {
      nodeName,
      certDirectory: posix.resolve(directory),
      client: this.#client,
      serving: this.#serving,
      endpoint: () => this.#endpoint.current,
      upstream: () => this.#connection.way(),
      onAuthority: pem => this.#kubelet?.wrote(this.#trust, pem),
    })
  }

  /** The certificate is of no use, if it is still the one in force: another is asked for. */
  #keyGone(certificate: string): void {
    for (const manager of [this.#client, this.#serving]) {
      const { serial } = manager.status()
      if (serial !== undefined && manager.held()?.chain === certificate)
        manager.reportRejected(serial, 'its key is not in the token any more')
    }
  }

  start(): void {
    this.#beside?.start()
    this.#controlPlane?.start()
    this.#client.onChange(() => {
      this.#connection.follow()
      this.#listeners.tell()
    })
    this.#serving.onChange(() => this.#listeners.tell())
    this.#started = this.#begin()
  }

  status(): AgentStatus {
    return agentStatus({
      client: this.#client,
      serving: this.#serving,
      node: this.#node,
      server: this.#server,
    })
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  setAddresses(addresses: readonly NodeAddress[]): void {
    this.#addresses = addresses
    this.#node.wake()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#client.stop()
    this.#serving.stop()
    this.#connection.stop()
    await this.#started
    await Promise.all([
      this.#node.stop(),
      this.#server?.stop(),
      this.#pods?.stop(),
      this.#beside?.stop(),
      this.#trust.stop(),
      this.#controlPlane?.stop(),
      this.#kubelet?.stop(),
    ])
    this.#token.close()
  }

  async #begin(): Promise<void> {
    await this.#trust.load()
    await this.#endpoint.load()
    if (this.#stopping.signal.aborted) return
    await Promise.all([this.#client.start(), this.#serving.start()])
    await this.#server?.start()
    if (this.#stopping.signal.aborted) return
    if (this.#options.heartbeat ?? true) this.#node.start()
  }

  #onNode(node: KubeNode | undefined): void {
    this.#trust.seen(node)
    this.#controlPlane?.seen(node)
    this.#pods?.nodeSeen(node)
    if (this.#options.serverTLSBootstrap) {
      const addresses = node?.status?.addresses ?? []
      this.#serving.setTemplate(servingTemplate(this.#options.nodeName, addresses, this.#keyAlgorithm))
    }
  }

  #facts(): NodeFacts {
    const { nodeName, nodeInfo, labels } = this.#options
    const port = this.#server?.port
    const containerRuntimeVersion = this.#pods?.runtimeVersion?.()
    return {
      nodeName,
      addresses: this.#addresses,
      ...(port !== undefined && { port }),
      nodeInfo: { ...(containerRuntimeVersion && { containerRuntimeVersion }), ...nodeInfo },
      ...(labels && { labels }),
    }
  }
}
