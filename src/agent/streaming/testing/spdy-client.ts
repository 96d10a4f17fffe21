import { type Duplex, duplexPair } from 'node:stream'
import {
  controlFrame,
  dataFrame,
  type Frame,
  FrameReader,
  frameTypes,
  wordAt,
  words,
} from '../spdy/frames.ts'
import { HeaderCodec } from '../spdy/header-codec.ts'

/** A client that sends what a test wants, sense or not. The server's end of the connection is `server`. */
export function spdyClient() {
  const [client, server] = duplexPair() as [Duplex, Duplex]
  const codec = new HeaderCodec()
  const frames: Frame[] = []
  let wake = () => {}
  const reading = (async () => {
    const reader = new FrameReader()
    for await (const chunk of client as AsyncIterable<Uint8Array>) {
      frames.push(...reader.read(chunk))
      wake()
    }
  })().catch(() => {})
  const closed = new Promise<void>(resolve => client.once('close', () => resolve()))
  void reading.then(() => wake())
  const said = {
    server,
    client,
    closed,
    frames,
    send: (bytes: Uint8Array) => client.write(bytes),
    async open(id: number, headers: Record<string, string>, flags = 0) {
      const entries = Object.entries(headers)
      const text = (value: string) => Buffer.concat([words(Buffer.byteLength(value)), Buffer.from(value)])
      const block = Buffer.concat([
        words(entries.length),
        ...entries.flatMap(([name, value]) => [text(name), text(value)]),
      ])
      const payload = Buffer.concat([words(id, 0), Buffer.alloc(2), await codec.pack(block)])
      client.write(controlFrame(frameTypes.synStream, flags, payload))
    },
    data: (id: number, text: string, fin = false) => client.write(dataFrame(id, Buffer.from(text), fin)),
    end: () => client.end(),
    /** Resolves when the server has sent such a frame. */
    async until(wanted: (frame: Frame) => boolean): Promise<Frame> {
      for (;;) {
        const found = frames.find(wanted)
        if (found) return found
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    /** All that was said on a stream so far. */
    text: (id: number) =>
      Buffer.concat(
        frames.flatMap(frame => (frame.kind === 'data' && frame.stream === id ? [frame.payload] : [])),
      ).toString(),
  }
  return said
}

export const isReply = (id: number) => (frame: Frame) =>
  frame.kind === 'control' && frame.type === frameTypes.synReply && wordAt(frame.payload, 0) === id

export const isReset = (id: number) => (frame: Frame) =>
  frame.kind === 'control' && frame.type === frameTypes.rstStream && wordAt(frame.payload, 0) === id

export const isEnd = (id: number) => (frame: Frame) =>
  frame.kind === 'data' && frame.stream === id && frame.fin
