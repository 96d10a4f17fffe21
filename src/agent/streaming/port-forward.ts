import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { createWebSocketStream } from 'ws'
import { type SpdyStream, serveSpdy } from './spdy/session.ts'

export const portForwardProtocol = 'portforward.k8s.io'
/** SPDY inside of a WebSocket, as kubectl asks for since 1.31. */
export const tunnelledProtocol = `SPDY/3.1+${portForwardProtocol}`

/** Opens a connection to a TCP port of the pod; rejects with a sentence for the client. */
export type OpenPort = (port: number) => Promise<Duplex>

/** Error streams whose data stream has not come; a client may have reset them meanwhile. */
const MOST_WAITING = 256

/** The byte stream of a WebSocket that carries SPDY. */
export function tunnelOf(socket: WebSocket): Duplex {
  return createWebSocketStream(socket, { allowHalfOpen: false })
}

/**
 * Forwards ports: for each connection the client opens two streams of one `requestid`, `error` and then `data`. Resolves
 * when the client has left; its connections end then.
 */
export async function forwardPorts(connection: Duplex, head: Uint8Array, open: OpenPort): Promise<void> {
  const errors = new Map<string, SpdyStream>()
  const targets = new Set<Duplex>()
  const session = serveSpdy(connection, head, stream => {
    const { streamtype, requestid = `${stream.id}` } = stream.headers
    if (streamtype === 'error') {
      errors.set(requestid, stream)
      const [oldest] = errors.keys()
      if (errors.size > MOST_WAITING && oldest !== undefined) errors.delete(oldest)
      return
    }
    const error = errors.get(requestid)
    errors.delete(requestid)
    if (streamtype !== 'data' || !error) return void stream.end()
    void forward(stream, error, open, targets)
  })
  await session.ended
  for (const target of targets) target.destroy()
}

async function forward(
  data: SpdyStream,
  error: SpdyStream,
  open: OpenPort,
  targets: Set<Duplex>,
): Promise<void> {
  try {
    const port = Number(data.headers.port)
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new RangeError(`unable to parse port ${JSON.stringify(data.headers.port ?? '')} as a uint16`)
    const target = await open(port)
    targets.add(target)
    target.once('close', () => targets.delete(target))
    target.on('error', () => target.destroy())
    await Promise.all([toTarget(data, target), toClient(target, data)])
    target.destroy()
  } catch (failure) {
    await error.write(Buffer.from(failure instanceof Error ? failure.message : String(failure)))
  } finally {
    await error.end()
    await data.end()
  }
}

async function toTarget({ received }: SpdyStream, target: Duplex): Promise<void> {
  for await (const chunk of received) {
    if (target.destroyed) return
    await new Promise<void>(resolve => {
      target.write(chunk, () => resolve())
    })
  }
  if (!target.destroyed) target.end()
}

async function toClient(target: Duplex, data: SpdyStream): Promise<void> {
  try {
    for await (const chunk of target as AsyncIterable<Uint8Array>) await data.write(chunk)
  } catch {
    // The connection broke; to the client it ends.
  }
  await data.end()
}
