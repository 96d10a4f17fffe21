/** A command's streams as streams of SPDY, each named by its header `streamtype`. */
import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports.ts'
import { type CommandChannels, type CommandRequest, outcomeText } from './command-channels.ts'
import { type SpdyStream, serveSpdy } from './spdy/session.ts'

/** What the kubelet speaks; the first that the client names is taken. */
export const spdyCommandProtocols = ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io']

/** Milliseconds in which a client opens all its streams: the kubelet's streamCreationTimeout. */
const CREATION_TIMEOUT = 30_000
/** Milliseconds that the client has to take the rest and close the connection when the command has ended. */
const GOODBYE = 60_000

/** Resolves when all streams that the request names are there; undefined: they did not come. */
export function spdyChannels(
  connection: Duplex,
  head: Uint8Array,
  protocol: string,
  wanted: CommandRequest,
  clock: Clock,
): Promise<CommandChannels | undefined> {
  const names = expectedStreams(wanted, protocol)
  const streams = new Map<string, SpdyStream>()
  return new Promise(resolve => {
    const timer = clock.after(CREATION_TIMEOUT, () => {
      connection.destroy()
      resolve(undefined)
    })
    const session = serveSpdy(connection, head, stream => {
      const name = stream.headers.streamtype ?? ''
      if (!names.includes(name) || streams.has(name)) return void stream.end()
      streams.set(name, stream)
      if (streams.size < names.length) return
      timer.cancel()
      resolve(channelsOf(streams, protocol, session, clock, connection))
    })
    void session.ended.then(() => {
      timer.cancel()
      resolve(undefined)
    })
  })
}

function expectedStreams({ stdin, stdout, stderr, tty }: CommandRequest, protocol: string): string[] {
  return [
    'error',
    ...(stdin ? ['stdin'] : []),
    ...(stdout ? ['stdout'] : []),
    ...(stderr && !tty ? ['stderr'] : []),
    ...(tty && protocol !== 'v2.channel.k8s.io' ? ['resize'] : []),
  ]
}

function channelsOf(
  streams: ReadonlyMap<string, SpdyStream>,
  protocol: string,
  session: ReturnType<typeof serveSpdy>,
  clock: Clock,
  connection: Duplex,
): CommandChannels {
  const [stdin, sizes, stdout, stderr] = ['stdin', 'resize', 'stdout', 'stderr'].map(name =>
    streams.get(name),
  )
  return {
    ...(stdin && { stdin: stdin.received }),
    ...(sizes && { sizes: sizes.received }),
    ...(stdout && { stdout: bytes => stdout.write(bytes) }),
    ...(stderr && { stderr: bytes => stderr.write(bytes) }),
    async finish(outcome) {
      const timer = clock.after(GOODBYE, () => connection.destroy())
      const text = outcomeText(outcome, protocol)
      if (text !== '') await streams.get('error')?.write(Buffer.from(text))
      for (const stream of streams.values()) await stream.end()
      await session.close()
      await session.ended
      timer.cancel()
    },
    gone: session.ended,
  }
}
