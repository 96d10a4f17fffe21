/** Ports forwarded as channels of one WebSocket, as clients other than kubectl ask for: two for each port of the query. */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { ByteQueue } from './byte-queue.ts'
import type { OpenPort } from './port-forward.ts'

export const websocketPortProtocols = ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io']

/** Ports of one request. */
const MOST_PORTS = 16
/** Bytes that wait for one connection before the socket is read no further. */
const MOST_WAITING = 256 * 1024

/** The ports that a query names, each once or several in one value; undefined: none, too many, or what is no port. */
export function parsePorts(values: readonly string[]): number[] | undefined {
  const ports = values
    .flatMap(value => value.split(','))
    .map(text => (/^\d{1,5}$/.test(text) ? Number(text) : 0))
  const fit = ports.length > 0 && ports.length <= MOST_PORTS && ports.every(port => port > 0 && port < 65_536)
  return fit ? ports : undefined
}

/**
 * Channel 2n is the data of the n-th port, 2n+1 tells why it fails; both begin with the number of the port. Resolves when
 * the client has left, or all connections have ended.
 */
export async function forwardChannels(
  socket: WebSocket,
  protocol: string,
  ports: readonly number[],
  open: OpenPort,
): Promise<void> {
  const base64 = protocol.includes('base64')
  const send = (channel: number, bytes: Uint8Array) => {
    const message = base64
      ? Buffer.from(`${String.fromCharCode(0x30 + channel)}${Buffer.from(bytes).toString('base64')}`)
      : Buffer.concat([Buffer.of(channel), bytes])
    return new Promise<void>(resolve => {
      if (socket.readyState !== socket.OPEN) resolve()
      else socket.send(message, { binary: !base64 }, () => resolve())
    })
  }
  const queues = ports.map(() => new ByteQueue(MOST_WAITING))
  let taking = Promise.resolve()
  socket.on('message', (data: Buffer) => {
    const channel = (data[0] ?? 0xff) - (base64 ? 0x30 : 0)
    const payload = base64 ? Buffer.from(data.subarray(1).toString('latin1'), 'base64') : data.subarray(1)
    const queue = channel % 2 === 0 ? queues[channel / 2] : undefined
    socket.pause()
    taking = taking.then(() => queue?.push(payload)).then(() => socket.resume())
  })
  socket.once('close', () => {
    for (const queue of queues) queue.end()
  })
  await Promise.all(
    ports.map((port, index) =>
      forwardOne(
        port,
        queues[index] ?? new ByteQueue(0),
        (error, bytes) => send(2 * index + (error ? 1 : 0), bytes),
        open,
      ),
    ),
  )
  socket.close(1000)
}

async function forwardOne(
  port: number,
  received: ByteQueue,
  send: (error: boolean, bytes: Uint8Array) => Promise<void>,
  open: OpenPort,
): Promise<void> {
  const number = Buffer.of(port & 0xff, port >> 8)
  await send(false, number)
  await send(true, number)
  let target: Duplex
  try {
    target = await open(port)
  } catch (error) {
    await send(true, Buffer.from(error instanceof Error ? error.message : String(error)))
    return received.discard()
  }
  target.on('error', () => target.destroy())
  const sending = (async () => {
    for await (const chunk of received) {
      if (target.destroyed) return
      await new Promise<void>(resolve => {
        target.write(chunk, () => resolve())
      })
    }
    // The client has left: nothing of it can be told any more.
    target.destroy()
  })()
  try {
    for await (const chunk of target as AsyncIterable<Uint8Array>) await send(false, chunk)
  } catch {
    // The connection broke; to the client it ends.
  }
  target.destroy()
  received.discard()
  await sending
}
