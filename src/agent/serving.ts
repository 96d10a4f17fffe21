import type { Secret } from '../keys/secret.ts'
import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { Handshakes } from './token-handshakes.ts'

/** A serving pair in PEM, leaf first. */
export interface ServingPair {
  chain: string
  key: Secret
}

export interface ServingOptions {
  address: string
  /** 0: any free one. */
  port: number
  /**
   * Asked at each handshake, so that new connections use the pair in force (H-8). undefined: there is none, and the
   * handshake must end with the alert internal_error (H-5).
   */
  getCertificate(): ServingPair | undefined
  /** Makes handshakes with pairs whose key is in a token. */
  handshakes?: Handshakes
  /** Never rejects. Client certificates are asked for, not demanded (H-1); whoever calls is judged here. */
  handle(request: ApiRequest, peer: Peer): Promise<ApiResponse>
}

export interface ServingEndpoint {
  readonly port: number
  close(): Promise<void>
}

/** Starts an HTTPS server; rejects with PORT_IN_USE or the system's error. The real one is serve-https.ts. */
export type ServeHttps = (options: ServingOptions) => Promise<ServingEndpoint>
