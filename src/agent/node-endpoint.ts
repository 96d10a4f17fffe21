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
}

/** Where this node's API server is and what to trust of it: kept in its kubeconfig, learnt from bootstrap credentials. */
export class NodeEndpoint {
  readonly #options: NodeEndpointOptions
  #current: ClusterEndpoint | undefined

  constructor(options: NodeEndpointOptions) {
    this.#options = options
  }

  get current(): ClusterEndpoint | undefined {
    return this.#current
  }

  /** Reads the kubeconfig; when there is none yet, writes it from the bootstrap kubeconfig, before any certificate (K-2c). */
  async load(): Promise<void> {
    const { kubeconfigPath, bootstrapKubeconfigPath } = this.#options
    this.#current = await this.#read(kubeconfigPath)
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

  /**
   * Reads the files again: the API server may have moved, or its CA file been replaced, which a kubelet notices only
   * when it is restarted (K-60). Resolves with whether something changed.
   */
  async refresh(): Promise<boolean> {
    const before = this.#current
    const read = await this.#read(this.#options.kubeconfigPath)
    if (read) this.#current = read
    return before === undefined || this.#current === undefined
      ? before !== this.#current
      : !sameEndpoint(before, this.#current)
  }

  async #adopt(endpoint: ClusterEndpoint): Promise<void> {
    if (this.#current && sameEndpoint(this.#current, endpoint)) return
    this.#current = endpoint
    const { disk, log, kubeconfigPath, currentPairPath } = this.#options
    try {
      await writeNodeKubeconfig(disk, kubeconfigPath, endpoint, currentPairPath)
      log.info('the kubeconfig was written', { path: kubeconfigPath, server: endpoint.connection.server })
    } catch (error) {
      log.warn('the kubeconfig cannot be written', { path: kubeconfigPath, error: String(error) })
    }
  }

  async #read(path: string): Promise<ClusterEndpoint | undefined> {
    try {
      return await readEndpoint(path, this.#options)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') {
        this.#options.log.warn('a kubeconfig cannot be used', { path, error: String(error) })
      }
      return undefined
    }
  }
}
