/** A command's streams as channels of one WebSocket: each message begins with the number of its channel. */
import type { WebSocket } from 'ws'
import { ByteQueue } from './byte-queue.ts'
import { type CommandChannels, type CommandRequest, outcomeText } from './command-channels.ts'

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const

/** What the kubelet speaks, and v5, in which stdin can be ended. */
export const commandProtocols = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
]

/** Bytes that wait for the command before the socket is read no further. */
const MOST_WAITING = 256 * 1024

export function websocketChannels(
  socket: WebSocket,
  protocol: string,
  wanted: CommandRequest,
): CommandChannels {
  const base64 = protocol.includes('base64')
  const stdin = new ByteQueue(MOST_WAITING)
  const sizes = new ByteQueue(MOST_WAITING)
  let taking = Promise.resolve()
  socket.on('message', (data: Buffer) => {
    const [channel, payload] = parseMessage(data, base64)
    socket.pause()
    // In their order, and none is read before the one before it has been taken.
    taking = taking.then(() => take(channel, payload)).then(() => socket.resume())
  })
  const gone = new Promise<void>(resolve => {
    socket.once('close', () => {
      stdin.end()
      sizes.end()
      resolve()
    })
  })

  async function take(channel: number, payload: Uint8Array): Promise<void> {
    if (channel === channels.stdin && wanted.stdin) await stdin.push(payload)
    else if (channel === channels.resize && wanted.tty) await sizes.push(payload)
    else if (channel === channels.close && protocol.startsWith('v5.') && payload[0] === channels.stdin)
      stdin.end()
  }

  const send = (channel: number, bytes: Uint8Array) => {
    const message = base64
      ? Buffer.from(`${channel}${Buffer.from(bytes).toString('base64')}`)
      : Buffer.concat([Buffer.of(channel), bytes])
    return new Promise<void>(resolve => {
      if (socket.readyState !== socket.OPEN) resolve()
      else socket.send(message, { binary: !base64 }, () => resolve())
    })
  }
  return {
    ...(wanted.stdin && { stdin }),
    ...(wanted.tty && { sizes }),
    ...(wanted.stdout && { stdout: bytes => send(channels.stdout, bytes) }),
    ...(wanted.stderr && !wanted.tty && { stderr: bytes => send(channels.stderr, bytes) }),
    async finish(outcome) {
      const text = outcomeText(outcome, protocol)
      if (text !== '') await send(channels.error, Buffer.from(text))
      socket.close(1000)
    },
    gone,
  }
}

function parseMessage(data: Buffer, base64: boolean): [channel: number, payload: Uint8Array] {
  if (!base64) return [data[0] ?? -1, data.subarray(1)]
  return [
    Number(String.fromCharCode(data[0] ?? 0)),
    Buffer.from(data.subarray(1).toString('latin1'), 'base64'),
  ]
}
