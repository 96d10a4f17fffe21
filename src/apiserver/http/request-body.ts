import type { Http2ServerRequest } from 'node:http2'
import type { Share } from './body-budget.ts'

/** `too-long`: more than `limit` bytes. `no-room`: the server holds too much already. */
export type BodyRefusal = 'too-long' | 'no-room'

/** The whole body, or why it is not read to its end: no more of it is then kept. */
export async function readRequestBody(
  request: Http2ServerRequest,
  limit: number,
  share: Share,
): Promise<Uint8Array | BodyRefusal> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return 'too-long'
  const chunks: Buffer[] = []
  let length = 0
  // A refused body must not end the stream that the refusal is sent on.
  const stream: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of stream) {
    length += chunk.length
    if (length > limit) return 'too-long'
    if (!share.take(chunk.length)) return 'no-room'
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}
