import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'

/** The embedded Kubernetes API: a function from request and peer to response. HTTP is one adapter (apiserver/http). */
export interface Api {
  handle(request: ApiRequest, peer: Peer): Promise<ApiResponse>
  /** Says on /readyz that it is about to close; everything goes on. */
  beginShutdown(): void
  /**
   * Ends all watches (each with a last bookmark), refuses new requests with 503, and resolves when those under way are
   * answered, at most ten seconds later.
   */
  close(): Promise<void>
}
