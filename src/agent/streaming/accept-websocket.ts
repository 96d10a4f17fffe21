import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { IncomingMessage } from '../../kube/node-http.ts'
import type { ApiRequest } from '../../kube/transport.ts'

/** Bytes of one message; kubectl sends 32 KiB. */
const MOST_MESSAGE = 1024 * 1024

/** The first protocol of those that the client names that is also one of ours. */
export function chosenProtocol(headers: ApiRequest['headers'], ours: readonly string[]): string | undefined {
  const named = (headers['sec-websocket-protocol'] ?? '').split(',').map(name => name.trim())
  return named.find(name => ours.includes(name))
}

/** Makes a WebSocket of a connection; a request that is none is answered with 400 and `accepted` is not called. */
export function acceptWebSocket(
  { method, url, headers }: ApiRequest,
  { connection, head, protocol }: { connection: Duplex; head: Uint8Array; protocol: string },
  accepted: (socket: WebSocket) => void,
): void {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MOST_MESSAGE,
  })
  // Kubernetes' names of protocols hold a slash, which RFC 6455 does not allow: ws is not shown them.
  const { 'sec-websocket-protocol': _, ...rest } = headers
  server.on('headers', lines => lines.push(`Sec-WebSocket-Protocol: ${protocol}`))
  const request = Object.assign(new IncomingMessage(connection as Socket), { method, url, headers: rest })
  server.handleUpgrade(request, connection, Buffer.from(head), socket => {
    // Too large a message, or no frame: the socket closes itself.
    socket.on('error', () => {})
    accepted(socket)
  })
}
