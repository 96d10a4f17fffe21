import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'

/** The embedded Kubernetes API: a function from request and peer to response. HTTP is one adapter (apiserver/http). */
export interface Api {
  handle(request: ApiRequest, peer: Peer): Promise<ApiResponse>
  /** Ends all watches and refuses new requests with 503. */
  close(): Promise<void>
}
