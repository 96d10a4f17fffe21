import { createHash, hash } from 'node:crypto'

/** SHA-256 in lower-case hexadecimal. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/** SHA-256 in base64: the shorter key of a map. */
export function sha256Base64(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'base64')
}

/** SHA-1, for RFC 5280's subject key identifier only. */
export function sha1(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha1').update(bytes).digest())
}
