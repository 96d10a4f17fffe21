import { systemCode } from '../errors.ts'
import {
  type ClusterEndpoint,
  readEndpoint,
  sameEndpoint,
  writeNodeKubeconfig,
} from '../hold/node-kubeconfig.ts'
import type { BootstrapCredential } from '../join/credential-sources.ts'
import type { Clock, Disk, Log } from '../ports.ts'

export interface NodeEndpointOptions {
  disk: Disk
  clock: Clock
  log: Log
  kubeconfigPath: string
  bootstrapKubeconfigPath: string | undefined
  /** Path of `kubelet-client-current.pem`, to which the kubeconfig refers. */
  currentPairPath: string
  /** It leads elsewhere, or is trusted by another CA, from now on. */
  onChange?(): void
}

/** Where this node's API server is and what to trust of it: kept in its kubeconfig, learnt from bootstrap credentials. */
export class NodeEndpoint {
  readonly #options: NodeEndpointOptions
  #current: ClusterEndpoint | undefined
  /** PEM of the bundle that trust roots have signed: once there is one, no file says what to trust. */
  #anchors: string | undefined
  /** What the kubeconfig is known to hold. */
  #written: ClusterEndpoint | undefined

  constructor(options: NodeEndpointOptions) {
    this.#options = options
  }

  get current(): ClusterEndpoint | undefined {
    return this.#current
  }

  /** Trusts exactly these CAs from now on, and says so in the kubeconfig, from which the next start begins. */
  async trust(anchors: string): Promise<void> {
    this.#anchors = anchors
    if (this.#current) await this.#adopt(this.#current)
  }

  /** Reads the kubeconfig; when there is none yet, writes it from the bootstrap kubeconfig, before any certificate (K-2c). */
  async load(): Promise<void> {
    const { kubeconfigPath, bootstrapKubeconfigPath } = this.#options
    const known = await this.#read(kubeconfigPath)
    if (known) this.#change(known)
    if (this.#current || bootstrapKubeconfigPath === undefined) return
    const endpoint = await this.#read(bootstrapKubeconfigPath)
    if (endpoint) await this.#adopt(endpoint)
  }

  /** A certificate was obtained with this credential: the node belongs to its API server. */
  async learn({ connection, certificateAuthority }: BootstrapCredential): Promise<void> {
    const { clientCertificate: _, bearerToken: __, readBearerToken: ___, ...bare } = connection
    const pem = bare.certificateAuthority
    const reference = certificateAuthority ?? (pem === undefined ? undefined : { pem })
    await this.#adopt({ connection: bare, ...(reference && { certificateAuthority: reference }) })
  }

  /** Reads the kubeconfig and its CA file again; resolves with whether something changed (K-60: a kubelet never does). */
  async refresh(): Promise<boolean> {
    const read = await this.#read(this.#options.kubeconfigPath)
    if (!read || (this.#current && sameEndpoint(this.#current, read))) return false
    this.#change(read)
    return true
  }

  /**
   * The API server does not answer: takes the other endpoint that is known, of kubeconfig and bootstrap kubeconfig, as it
   * may have moved or changed its CA. Resolves with whether there is another one.
   */
  async tryAnother(): Promise<boolean> {
    const { kubeconfigPath, bootstrapKubeconfigPath = kubeconfigPath } = this.#options
    const current = this.#current
    for (const path of [kubeconfigPath, bootstrapKubeconfigPath]) {
      const read = await this.#read(path)
      if (!read || (current && sameEndpoint(current, read))) continue
      this.#change(read)
      return true
    }
    return false
  }

  /** The present endpoint has answered: it belongs into the kubeconfig. */
  async confirm(): Promise<void> {
    const current = this.#current
    if (!current || current === this.#written) return
    const written = await this.#read(this.#options.kubeconfigPath)
    if (!written || !sameEndpoint(written, current)) await this.#write(current)
    this.#written = current
  }

  async #adopt(endpoint: ClusterEndpoint): Promise<void> {
    const trusted = this.#trusting(endpoint)
    if (this.#current && sameEndpoint(this.#current, trusted)) return
    this.#change(trusted)
    await this.#write(trusted)
    this.#written = trusted
  }

  #change(endpoint: ClusterEndpoint): void {
    this.#current = endpoint
    this.#options.onChange?.()
  }

  async #write(endpoint: ClusterEndpoint): Promise<void> {
    const { disk, log, kubeconfigPath: path, currentPairPath } = this.#options
    try {
      await writeNodeKubeconfig(disk, path, endpoint, currentPairPath)
      log.info('the kubeconfig was written', { path, server: endpoint.connection.server })
    } catch (error) {
      log.warn('the kubeconfig cannot be written', { path, error: String(error) })
    }
  }

  #trusting(endpoint: ClusterEndpoint): ClusterEndpoint {
    const pem = this.#anchors
    if (pem === undefined) return endpoint
    return {
      connection: { ...endpoint.connection, certificateAuthority: pem },
      certificateAuthority: { pem },
    }
  }

  async #read(path: string): Promise<ClusterEndpoint | undefined> {
    try {
      return this.#trusting(await readEndpoint(path, this.#options))
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') {
        this.#options.log.warn('a kubeconfig cannot be used', { path, error: String(error) })
      }
      return undefined
    }
  }
}
