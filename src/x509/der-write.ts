import { tags } from './der.ts'
import { oidToDer } from './oid.ts'

/** One element in DER: identifier octet, minimal definite length, the parts as content. */
export function encode(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const header = lengthOctets(length)
  const out = new Uint8Array(1 + header.length + length)
  out[0] = tag
  out.set(header, 1)
  let at = 1 + header.length
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

export function encodeOid(dotted: string): Uint8Array {
  return encode(tags.oid, oidToDer(dotted))
}

export function encodeBoolean(value: boolean): Uint8Array {
  return Uint8Array.of(tags.boolean, 1, value ? 0xff : 0)
}

/** A non-negative INTEGER from big-endian bytes; leading zeros are dropped, one is added where the top bit is set. */
export function encodeUnsigned(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex(byte => byte !== 0)
  const value = first < 0 ? Uint8Array.of(0) : bytes.subarray(first)
  return (value[0] ?? 0) >= 0x80 ? encode(tags.integer, Uint8Array.of(0), value) : encode(tags.integer, value)
}

/** A small non-negative INTEGER (< 2^31). */
export function encodeSmallInteger(value: number): Uint8Array {
  return encodeUnsigned(Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value))
}

export function encodeBitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return encode(tags.bitString, Uint8Array.of(unusedBits), bytes)
}

export function encodeOctetString(bytes: Uint8Array): Uint8Array {
  return encode(tags.octetString, bytes)
}

export const encodedNull = Uint8Array.of(tags.null, 0)

function lengthOctets(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length)
  if (length < 0x100) return Uint8Array.of(0x81, length)
  if (length < 0x10000) return Uint8Array.of(0x82, length >>> 8, length)
  if (length < 0x1000000) return Uint8Array.of(0x83, length >>> 16, length >>> 8, length)
  return Uint8Array.of(0x84, length >>> 24, length >>> 16, length >>> 8, length)
}
