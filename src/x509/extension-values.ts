import { contextTag, DerReader, tags } from './der.ts'
import {
  encode,
  encodeBitString,
  encodeBoolean,
  encodeOctetString,
  encodeOid,
  encodeSequence,
  encodeSmallInteger,
} from './der-write.ts'

/** Bits of keyUsage (RFC 5280 4.2.1.3), the first is bit 0. */
export const keyUsageBits = [
  'digitalSignature',
  'contentCommitment',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const

export type KeyUsage = (typeof keyUsageBits)[number]

export interface BasicConstraints {
  ca: boolean
  /** How many intermediates may follow; undefined is no limit. */
  pathLength?: number
}

export function parseBasicConstraints(value: Uint8Array): BasicConstraints {
  const outer = new DerReader(value, 'basicConstraints')
  const inside = outer.enter(tags.sequence)
  outer.finish()
  const ca = inside.peek() === tags.boolean ? inside.boolean() : false
  if (inside.atEnd) return { ca }
  const pathLength = inside.smallInteger()
  if (pathLength < 0) throw inside.fail('negative path length')
  inside.finish()
  return { ca, pathLength }
}

export function encodeBasicConstraints({ ca, pathLength }: BasicConstraints): Uint8Array {
  const limit = pathLength === undefined ? [] : [encodeSmallInteger(pathLength)]
  return encodeSequence(...(ca ? [encodeBoolean(true), ...limit] : []))
}

export function parseKeyUsage(value: Uint8Array): KeyUsage[] {
  const reader = new DerReader(value, 'keyUsage')
  const { bytes } = reader.bitString()
  reader.finish()
  return keyUsageBits.filter((_, bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0)
}

/** A named bit list: DER drops trailing zero bits. */
export function encodeKeyUsage(usages: readonly KeyUsage[]): Uint8Array {
  const set = usages.map(usage => keyUsageBits.indexOf(usage))
  const last = Math.max(-1, ...set)
  const bytes = new Uint8Array(Math.ceil((last + 1) / 8))
  for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return encodeBitString(bytes, last < 0 ? 0 : 7 - (last & 7))
}

/** Dotted identifiers, in order. */
export function parseExtendedKeyUsage(value: Uint8Array): string[] {
  const outer = new DerReader(value, 'extendedKeyUsage')
  const inside = outer.enter(tags.sequence)
  outer.finish()
  const usages: string[] = []
  while (!inside.atEnd) usages.push(inside.oid())
  return usages
}

export function encodeExtendedKeyUsage(usages: readonly string[]): Uint8Array {
  return encodeSequence(...usages.map(encodeOid))
}

export function parseSubjectKeyIdentifier(value: Uint8Array): Uint8Array {
  const reader = new DerReader(value, 'subjectKeyIdentifier')
  const identifier = reader.content(tags.octetString)
  reader.finish()
  return identifier
}

export function encodeSubjectKeyIdentifier(identifier: Uint8Array): Uint8Array {
  return encodeOctetString(identifier)
}

/** The keyIdentifier of an authorityKeyIdentifier, or undefined where it names the issuer only. */
export function parseAuthorityKeyIdentifier(value: Uint8Array): Uint8Array | undefined {
  const outer = new DerReader(value, 'authorityKeyIdentifier')
  const inside = outer.enter(tags.sequence)
  outer.finish()
  const keyIdentifier =
    inside.peek() === contextTag(0, false) ? inside.content(contextTag(0, false)) : undefined
  while (!inside.atEnd) inside.element()
  return keyIdentifier
}

export function encodeAuthorityKeyIdentifier(keyIdentifier: Uint8Array): Uint8Array {
  return encodeSequence(encode(contextTag(0, false), keyIdentifier))
}
