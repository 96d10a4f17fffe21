import { once } from 'node:events'
import type { Http2ServerResponse } from 'node:http2'
import type { ApiResponse } from '../../kube/transport.ts'
import type { Clock } from '../../ports.ts'

/** Bytes of an answer that fit into the buffers of any connection. */
const ANSWER_AT_ONCE = 64 * 1024
/** Milliseconds that a client has to take an answer: kube-apiserver's --request-timeout. */
const ANSWER_TIMEOUT = 60_000

/** Sends the answer; a stream's headers at once (W-4), its chunks no faster than the client takes them. */
export async function respond(
  response: Http2ServerResponse,
  { status, headers, body }: ApiResponse,
  gone: AbortSignal,
  clock: Clock,
): Promise<void> {
  if (body instanceof Uint8Array) {
    if (gone.aborted) return
    response.writeHead(status, { ...headers, 'content-length': String(body.length) })
    response.end(body)
    if (body.length > ANSWER_AT_ONCE) await taken(response, gone, clock)
    return
  }
  if (!gone.aborted) {
    response.writeHead(status, headers)
    // HTTP/2 has sent them by now, HTTP/1.1 would wait for the first chunk.
    if ('flushHeaders' in response && typeof response.flushHeaders === 'function') response.flushHeaders()
  }
  const stream = body[Symbol.asyncIterator]()
  try {
    while (!gone.aborted) {
      const { done, value } = await stream.next()
      if (done) break
      if (!response.write(value)) await drained(response, gone)
    }
  } finally {
    await stream.return?.()
  }
  if (!gone.aborted) response.end()
}

/** Resolves when the client has the answer or has left; one that does not take it must not have it kept for ever. */
function taken(response: Http2ServerResponse, gone: AbortSignal, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const slow = clock.after(ANSWER_TIMEOUT, () => (response.stream ?? response.socket).destroy())
    const end = () => {
      slow.cancel()
      resolve()
    }
    gone.addEventListener('abort', end, { once: true })
    if (gone.aborted) end()
  })
}

async function drained(response: Http2ServerResponse, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return
  try {
    await once(response, 'drain', { signal: gone })
  } catch (error) {
    // The client left while it was waited for; the caller sees `gone`.
    if (!gone.aborted) throw error
  }
}
