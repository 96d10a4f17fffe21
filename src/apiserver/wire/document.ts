/** A document that the server makes once and serves unchanged: discovery, OpenAPI. */
import { createHash } from 'node:crypto'

export interface ServedDocument {
  contentType: string
  body: Uint8Array
  /** With quotes, for the ETag header and for comparing with If-None-Match (kubectl caches by it). */
  etag: string
  /** SHA-512 of the body in upper-case hexadecimal, as in the URLs of /openapi/v3. */
  hash: string
}

export function jsonDocument(value: unknown, contentType = 'application/json'): ServedDocument {
  return servedDocument(Buffer.from(`${JSON.stringify(value)}\n`), contentType)
}

export function servedDocument(body: Uint8Array, contentType: string): ServedDocument {
  const hash = createHash('sha512').update(body).digest('hex').toUpperCase()
  return { contentType, body, hash, etag: `"${hash}"` }
}

/** Whether the client's copy is the document (answer 304). `ifNoneMatch` is the header. */
export function isCurrent(document: ServedDocument, ifNoneMatch: string | undefined): boolean {
  return (ifNoneMatch ?? '').split(',').some(tag => tag.trim().replace(/^W\//, '') === document.etag)
}
