import { once } from 'node:events'
import type { Http2ServerResponse } from 'node:http2'
import type { ApiResponse } from '../../kube/transport.ts'

/** Sends the answer; a stream's headers at once (W-4), its chunks no faster than the client takes them. */
export async function respond(
  response: Http2ServerResponse,
  { status, headers, body }: ApiResponse,
  gone: AbortSignal,
): Promise<void> {
  if (body instanceof Uint8Array) {
    if (gone.aborted) return
    response.writeHead(status, { ...headers, 'content-length': String(body.length) })
    response.end(body)
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

async function drained(response: Http2ServerResponse, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return
  try {
    await once(response, 'drain', { signal: gone })
  } catch (error) {
    // The client left while it was waited for; the caller sees `gone`.
    if (!gone.aborted) throw error
  }
}
