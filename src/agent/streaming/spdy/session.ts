import type { Duplex } from 'node:stream'
import { ByteQueue } from '../byte-queue.ts'
import {
  controlFrame,
  dataFrame,
  FrameReader,
  finFlag,
  frameTypes,
  parseHeaderBlock,
  resetCodes,
  SpdyError,
  wordAt,
  words,
} from './frames.ts'
import { HeaderCodec } from './header-codec.ts'

/** Streams that a client may have open at once; a forwarded connection takes two. */
const MOST_STREAMS = 512
/** Bytes that wait for one stream's reader before the connection is read no further. */
const MOST_WAITING = 256 * 1024
/** Bytes of one data frame that is sent. */
const MOST_SENT = 32 * 1024

export interface SpdyStream {
  id: number
  headers: Readonly<Record<string, string>>
  /** What the client sends on it, until it says that this is all, or the session ends. */
  received: AsyncIterable<Uint8Array>
  /** Resolves when the connection takes more. */
  write(bytes: Uint8Array): Promise<void>
  /** Nothing more will be written. */
  end(): Promise<void>
}

export interface SpdySession {
  /** Resolves when the session is over. */
  ended: Promise<void>
  /** Says goodbye; the client closes the connection. */
  close(): Promise<void>
}

interface OpenStream {
  queue: ByteQueue
  /** Which sides have ended. */
  ours: boolean
  theirs: boolean
}

/**
 * The server's side of SPDY/3.1 on a connection, as Kubernetes uses it: clients open streams, each is accepted. Without
 * flow control, which Kubernetes' clients do not know either: who reads slowly slows the connection.
 */
export function serveSpdy(
  connection: Duplex,
  head: Uint8Array,
  onStream: (stream: SpdyStream) => void,
): SpdySession {
  const session = new ServerSession(connection, onStream)
  const ended = session.run(head)
  return { ended, close: () => session.close() }
}

class ServerSession {
  readonly #connection: Duplex
  readonly #onStream: (stream: SpdyStream) => void
  readonly #codec = new HeaderCodec()
  readonly #streams = new Map<number, OpenStream>()
  /** Those who wait for room on the connection. */
  readonly #waiting = new Set<() => void>()
  #lastStream = 0
  #gone = false

  constructor(connection: Duplex, onStream: (stream: SpdyStream) => void) {
    this.#connection = connection
    this.#onStream = onStream
  }

  /** Never rejects: who speaks no SPDY is cut off. */
  async run(head: Uint8Array): Promise<void> {
    const connection = this.#connection
    connection.on('error', () => connection.destroy())
    connection.on('close', () => this.#end())
    const frames = new FrameReader()
    try {
      await this.#take(frames, head)
      for await (const chunk of connection as AsyncIterable<Uint8Array>) await this.#take(frames, chunk)
    } catch {
      // Broken off, or no SPDY: either way it is over.
    } finally {
      this.#end()
      connection.destroy()
      this.#codec.close()
    }
  }

  async close(): Promise<void> {
    await this.#send(controlFrame(frameTypes.goAway, 0, words(this.#lastStream, 0)))
    if (!this.#gone) this.#connection.end()
  }

  #end(): void {
    this.#gone = true
    for (const { queue } of this.#streams.values()) queue.end()
    this.#streams.clear()
    for (const go of [...this.#waiting]) go()
  }

  async #take(frames: FrameReader, chunk: Uint8Array): Promise<void> {
    for (const frame of frames.read(chunk)) {
      if (frame.kind === 'data') await this.#data(frame.stream, frame.payload, frame.fin)
      else await this.#control(frame.type, frame.flags, frame.payload)
    }
  }

  async #data(id: number, payload: Uint8Array, fin: boolean): Promise<void> {
    const stream = this.#streams.get(id)
    // Of a stream that we have reset or ended, what was under way is nobody's.
    if (!stream || stream.theirs) return
    if (payload.length > 0) await stream.queue.push(payload)
    if (fin) this.#theirEnd(id, stream)
  }

  async #control(type: number, flags: number, payload: Uint8Array): Promise<void> {
    switch (type) {
      case frameTypes.synStream: {
        // What it is packed with goes on through all blocks, also of a stream that is refused.
        const headers = parseHeaderBlock(await this.#codec.unpack(payload.subarray(10)))
        return this.#open(wordAt(payload, 0), headers, (flags & finFlag) !== 0)
      }
      case frameTypes.synReply:
      case frameTypes.headers:
        await this.#codec.unpack(payload.subarray(4))
        return
      case frameTypes.rstStream: {
        const id = wordAt(payload, 0)
        this.#streams.get(id)?.queue.discard()
        this.#streams.delete(id)
        return
      }
      case frameTypes.ping:
        // Ours would be even; we send none.
        if (wordAt(payload, 0) % 2 === 1)
          await this.#send(controlFrame(frameTypes.ping, 0, payload.subarray(0, 4)))
        return
      default:
        // SETTINGS, WINDOW_UPDATE, GOAWAY: nothing depends on them here.
        return
    }
  }

  async #open(id: number, headers: Record<string, string>, fin: boolean): Promise<void> {
    if (id % 2 === 0 || id <= this.#lastStream) throw new SpdyError('a stream has a number that is taken')
    this.#lastStream = id
    if (this.#streams.size >= MOST_STREAMS) {
      await this.#send(controlFrame(frameTypes.rstStream, 0, words(id, resetCodes.refusedStream)))
      return
    }
    const stream: OpenStream = { queue: new ByteQueue(MOST_WAITING), ours: false, theirs: false }
    this.#streams.set(id, stream)
    const reply = Buffer.concat([words(id), await this.#codec.pack(words(0))])
    await this.#send(controlFrame(frameTypes.synReply, 0, reply))
    if (fin) this.#theirEnd(id, stream)
    this.#onStream({
      id,
      headers,
      received: stream.queue,
      write: bytes => this.#write(id, stream, bytes),
      end: () => this.#ourEnd(id, stream),
    })
  }

  #theirEnd(id: number, stream: OpenStream): void {
    stream.theirs = true
    stream.queue.end()
    this.#forget(id, stream)
  }

  async #ourEnd(id: number, stream: OpenStream): Promise<void> {
    if (stream.ours) return
    stream.ours = true
    await this.#send(dataFrame(id, new Uint8Array(), true))
    this.#forget(id, stream)
  }

  #forget(id: number, { ours, theirs }: OpenStream): void {
    if (ours && theirs) this.#streams.delete(id)
  }

  async #write(id: number, stream: OpenStream, bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length; offset += MOST_SENT) {
      if (stream.ours || !this.#streams.has(id)) return
      await this.#send(dataFrame(id, bytes.subarray(offset, offset + MOST_SENT), false))
    }
  }

  /** Resolves when the connection takes more, or is gone. */
  #send(frame: Uint8Array): Promise<void> {
    const connection = this.#connection
    if (this.#gone || connection.destroyed || connection.writableEnded) return Promise.resolve()
    return new Promise(resolve => {
      const go = () => {
        this.#waiting.delete(go)
        resolve()
      }
      this.#waiting.add(go)
      connection.write(frame, go)
    })
  }
}
