/**
 * One request to a Kubernetes API, whatever carries it: undici to any cluster, a function call into the embedded API's
 * handler, or the simulator's network. Values only, so all three are interchangeable.
 */
import type { Duplex } from 'node:stream'
import type { Secret } from '../keys/secret.ts'

export interface ApiRequest {
  /** GET, POST, PUT, PATCH, DELETE; upper case. */
  method: string
  /** Path and query, e.g. `/api/v1/nodes?limit=500`. */
  url: string
  /** Lower-case names. */
  headers: Record<string, string>
  body?: Uint8Array
  /**
   * In place of `body`, from a program in the same process: the object that it would be, which stays the caller's. Its
   * types are the compiler's to check.
   */
  value?: object
  /** From a program in the same process: the answer may come as `value` or `events` in place of `body`. */
  wantsValues?: true
  /** Aborting it ends the request or the stream. */
  signal?: AbortSignal
  /** Bytes of an answer that are taken from who is not trusted to be brief; a longer one is refused. Absent: any. */
  mostBody?: number
  /** The connection it came on can be taken over by the answer. */
  upgradable?: boolean
}

export interface ApiResponse {
  status: number
  /** Lower-case names. */
  headers: Record<string, string>
  /** A whole body, or for a watch a stream of chunks that ends when the server ends it or the signal aborts. */
  body: Uint8Array | AsyncIterable<Uint8Array>
  /** Only for a request that wants values: what the body would say, the caller's own copy. */
  value?: object
  /** Only for a request that wants values: what the lines of a watch would say. Shared by all: never change them. */
  events?: AsyncIterable<readonly unknown[]>
  /**
   * Only for a request that is `upgradable`: instead of sending the answer, its connection is handed over, with the bytes
   * that came behind the request. A client that has left by then is a connection that is destroyed.
   */
  takeOver?(connection: Duplex, head: Uint8Array): void
}

export interface Transport {
  /** Requests may carry values and want them: the other end is in the same process. */
  readonly values?: true
  /** Rejects with RollcallError API_UNREACHABLE when no answer can be had; an HTTP error status is an answer. */
  request(request: ApiRequest): Promise<ApiResponse>
  /** Closes all connections, e.g. after the client certificate was rotated. The transport stays usable. */
  closeConnections(): void
  /**
   * Where the credential's TLS is made by another process: its unix socket, which takes plain HTTP for this API. Absent:
   * the connection's own fields say all.
   */
  plainSocket?(): Promise<string>
}

/** Who sent a request, as the connection tells it. */
export interface Peer {
  /** The client certificate's chain in DER, leaf first; absent when none was presented. */
  certificates?: readonly Uint8Array[]
  remoteAddress: string
  /** Which of several chains the server has shown in the handshake, by the id it gives them. */
  chain?: string
}

/** What a connection to one API server with one credential is made of. Secrets come wrapped (keys/secret.ts). */
export interface ConnectionConfig {
  /** E.g. `https://127.0.0.1:6443`. */
  server: string
  /** PEM bundle the server must chain to; absent: the system's roots. */
  certificateAuthority?: string
  insecureSkipTlsVerify?: boolean
  tlsServerName?: string
  /** PEM, leaf first, with its key. */
  clientCertificate?: { certificate: string; key: Secret }
  bearerToken?: Secret
  /** Asked before each request instead of `bearerToken`: a token in a file is replaced while we run. */
  readBearerToken?(): Promise<Secret>
  /** `http(s)://…` of a proxy that tunnels by CONNECT; for `https:` servers alone. */
  proxyUrl?: string
  /** Through this unix socket instead of the server's address, e.g. to a helper that makes the TLS. */
  socketPath?: string
}

/** Makes a Transport: undici in production (kube/undici-transport.ts), the simulator's network in a simulation. */
export type Connect = (config: ConnectionConfig) => Transport

/** Whether the request asks for a watch, whose answer has no end of its own. */
export function isWatch(url: string): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(url)
}
