/** One request and the place for its answer, as HTTP/1.1 or HTTP/2 hand them over. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import {
  constants,
  type IncomingHttpHeaders as Http2Headers,
  type Http2Session,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/** Where an answer is written to. */
export interface Answering {
  /** Of HTTP. */
  readonly version: 1 | 2
  /** Sends them at once where `more` comes later than now. */
  writeHead(status: number, headers: Readonly<Record<string, string>>, more: boolean): void
  /** False: wait for `drain` before the next. */
  write(chunk: Uint8Array): boolean
  end(body?: Uint8Array): void
  /** Calls `run` once what was written has room again. */
  onDrain(run: () => void): void
  /** Calls `run` when the answer is with the client, or the client has left. */
  onClose(run: () => void): void
  /** Cuts it off. */
  destroy(): void
}

export interface Exchange {
  method: string
  /** Path and query. */
  url: string
  /** HTTP/2's own, which begin with a colon, among them. */
  headers: IncomingHttpHeaders & Http2Headers
  /** Names and values in turn, as the client sent them. */
  rawHeaders: readonly string[]
  body: Readable
  /** False: nothing is to be read. */
  hasBody: boolean
  /** What it came on: the session of HTTP/2, or the socket. */
  connection: Http2Session | TLSSocket
  answer: Answering
}

/** HTTP/1.1. */
export function messageExchange(message: IncomingMessage, response: ServerResponse): Exchange {
  const { method = '', url = '', headers, rawHeaders } = message
  return {
    method,
    url,
    headers,
    rawHeaders,
    body: message,
    hasBody: 'content-length' in headers || 'transfer-encoding' in headers,
    connection: message.socket as TLSSocket,
    answer: responseAnswer(response),
  }
}

/** What HTTP/1.1 is answered by. */
export function responseAnswer(response: ServerResponse): Answering {
  return {
    version: 1,
    writeHead(status, headers, more) {
      response.writeHead(status, headers)
      // It would wait for the first chunk.
      if (more) response.flushHeaders()
    },
    write: chunk => response.write(chunk),
    end: body => void response.end(body),
    onDrain: run => void response.once('drain', run),
    onClose: run => void response.once('close', run),
    destroy: () => void response.socket?.destroy(),
  }
}

/** HTTP/2, on the stream itself: Node's likeness of HTTP/1.1 costs each request two streams more. */
export function streamExchange(
  stream: ServerHttp2Stream,
  session: Http2Session,
  headers: Http2Headers,
  rawHeaders: readonly string[],
): Exchange {
  return {
    method: headers[':method'] ?? '',
    url: headers[':path'] ?? '',
    headers,
    rawHeaders,
    body: stream,
    hasBody: !stream.endAfterHeaders,
    connection: session,
    answer: new StreamAnswer(stream),
  }
}

class StreamAnswer implements Answering {
  readonly version = 2
  readonly #stream: ServerHttp2Stream

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
  }

  writeHead(status: number, headers: Readonly<Record<string, string>>): void {
    if (this.#isOver()) return
    const sent: OutgoingHttpHeaders = { [constants.HTTP2_HEADER_STATUS]: status, ...headers }
    this.#stream.respond(sent)
  }

  write(chunk: Uint8Array): boolean {
    return this.#isOver() || this.#stream.write(chunk)
  }

  end(body?: Uint8Array): void {
    if (this.#isOver()) return
    if (body && body.length > 0) this.#stream.end(body)
    else this.#stream.end()
  }

  onDrain(run: () => void): void {
    this.#stream.once('drain', run)
  }

  onClose(run: () => void): void {
    this.#stream.on('close', run)
  }

  destroy(): void {
    this.#stream.destroy()
  }

  /** A client that resets a stream has closed it before anybody is told. */
  #isOver(): boolean {
    return this.#stream.closed || this.#stream.destroyed
  }
}
