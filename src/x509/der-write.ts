import { BoundedCache } from './bounded-cache.ts'
import { tags } from './der.ts'
import { oidToDer } from './oid.ts'

/** One element in DER: identifier octet, minimal definite length, the parts as content. */
export function encode(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const header = 2 + lengthBytes(length)
  const out = new Uint8Array(header + length)
  out[0] = tag
  writeLength(out, length)
  let at = header
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

export function encodeSequence(...parts: readonly Uint8Array[]): Uint8Array {
  return encode(tags.sequence, ...parts)
}

/** SET OF: DER sorts the encodings (X.690 11.6). */
export function encodeSetOf(elements: readonly Uint8Array[]): Uint8Array {
  return encode(tags.set, ...elements.toSorted(Buffer.compare))
}

const encodedOids = new BoundedCache<Uint8Array>(256)

/** Shared: not to be changed. Throws RangeError on what is not an object identifier. */
export function encodeOid(dotted: string): Uint8Array {
  return encodedOids.getOrCompute(dotted, () => encode(tags.oid, oidToDer(dotted)))
}

export function encodeBoolean(value: boolean): Uint8Array {
  return Uint8Array.of(tags.boolean, 1, value ? 0xff : 0)
}

/** A non-negative INTEGER from big-endian bytes; leading zeros are dropped, one is added where the top bit is set. */
export function encodeUnsigned(bytes: Uint8Array): Uint8Array {
  let first = 0
  while (first < bytes.length - 1 && bytes[first] === 0) first++
  const value = bytes.length === 0 ? zero : bytes.subarray(first)
  return (value[0] ?? 0) >= 0x80 ? encode(tags.integer, zero, value) : encode(tags.integer, value)
}

const zero = Uint8Array.of(0)

/** A small non-negative INTEGER (< 2^31). */
export function encodeSmallInteger(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(tags.integer, 1, value)
  return encodeUnsigned(Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value))
}

export function encodeBitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return encode(tags.bitString, Uint8Array.of(unusedBits), bytes)
}

export function encodeOctetString(bytes: Uint8Array): Uint8Array {
  return encode(tags.octetString, bytes)
}

export const encodedNull = Uint8Array.of(tags.null, 0)

/** How many octets follow the first octet of the length: none below 128, where it is the length itself. */
function lengthBytes(length: number): number {
  if (length < 0x80) return 0
  if (length < 0x100) return 1
  return length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4
}

/** From the second octet on. */
function writeLength(out: Uint8Array, length: number): void {
  const count = lengthBytes(length)
  out[1] = count === 0 ? length : 0x80 | count
  for (let octet = 1, left = length; octet <= count; octet++, left >>>= 8) out[2 + count - octet] = left
}
