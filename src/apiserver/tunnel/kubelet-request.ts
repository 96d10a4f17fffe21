import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { request as sendHttp } from '../../kube/node-http.ts'
import type { Clock } from '../../ports.ts'
import { DialError } from './dial-error.ts'

/** One HTTP/1.1 request to a kubelet, on a connection of its own. */
export interface KubeletRequest {
  method: string
  /** Path and query, encoded. */
  path: string
  /** host:port. */
  host: string
  headers: Readonly<Record<string, string | string[]>>
  body?: Uint8Array
}

/** What the kubelet says: an answer that is HTTP, or the connection as it is behind a 101. */
export type KubeletAnswer =
  | { upgraded: false; response: IncomingMessage }
  | { upgraded: true; response: IncomingMessage; connection: Duplex; head: Uint8Array }

/** Bytes of headers that a kubelet may answer with. */
const MOST_HEADERS = 16 * 1024

/**
 * Sends it and resolves with the head of the answer; redirects are answers like others, never followed. Rejects with
 * DialError when the connection breaks or `milliseconds` go by (absent: as long as the signal lasts); the connection is
 * gone then.
 */
export function askKubelet(
  connection: TLSSocket,
  order: KubeletRequest,
  { clock, signal, milliseconds }: { clock: Clock; signal: AbortSignal; milliseconds?: number },
): Promise<KubeletAnswer> {
  return new Promise<KubeletAnswer>((resolve, reject) => {
    const { method, path, host, headers, body } = order
    const request: ClientRequest = sendHttp({
      createConnection: () => connection,
      method,
      path,
      maxHeaderSize: MOST_HEADERS,
      headers: { host, ...headers, ...(body && { 'content-length': String(body.length) }) },
    })
    const fail = (error: Error) => {
      connection.destroy()
      reject(error)
    }
    const left = () => fail(signal.reason as Error)
    signal.addEventListener('abort', left, { once: true })
    const timer =
      milliseconds === undefined
        ? undefined
        : clock.after(milliseconds, () => fail(new DialError('context deadline exceeded')))
    const settled = () => {
      timer?.cancel()
      signal.removeEventListener('abort', left)
    }
    request.once('response', response => {
      settled()
      resolve({ upgraded: false, response })
    })
    request.once('upgrade', (response, socket: Duplex, head: Uint8Array) => {
      settled()
      resolve({ upgraded: true, response, connection: socket, head })
    })
    request.on('error', error => {
      settled()
      fail(
        new DialError(/^Parse Error/.test(error.message) ? 'malformed HTTP response' : 'EOF', {
          cause: error,
        }),
      )
    })
    request.end(body)
  })
}
