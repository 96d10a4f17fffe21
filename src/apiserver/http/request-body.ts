import type { Http2ServerRequest } from 'node:http2'

/** The whole body; undefined when it is longer than `limit` bytes, of which no more is then kept. */
export async function readRequestBody(
  request: Http2ServerRequest,
  limit: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined
  const chunks: Buffer[] = []
  let length = 0
  // A refused body must not end the stream that the refusal is sent on.
  const stream: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of stream) {
    length += chunk.length
    if (length > limit) return undefined
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}
