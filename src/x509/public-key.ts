import { createPublicKey, type KeyObject } from 'node:crypto'
import { readAlgorithmIdentifier } from './algorithms.ts'
import { curves, isOnCurve } from './curve.ts'
import { DerReader, tags } from './der.ts'
import { encodedNull } from './der-write.ts'
import type { NoteOddity } from './oddity.ts'
import { oids } from './oid.ts'

export type KnownKey = Pick<PublicKeyInfo, 'type' | 'spki'>

export interface PublicKeyInfo {
  /** `P-256`, `RSA-2048`, `Ed25519`, `X25519`, `DSA`, or the dotted identifier of a type nobody here knows. */
  type: string
  /** The whole SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
  /** The key bits, without algorithm and length: what RFC 5280 hashes to a key identifier. */
  bits: Uint8Array
}

/** Reads the next element as SubjectPublicKeyInfo, checking the key as Go does (point on its curve, positive modulus). */
export function readPublicKey(reader: DerReader, note?: NoteOddity): PublicKeyInfo {
  const from = reader.position
  const inside = reader.enter(tags.sequence, 'public key')
  const algorithm = readAlgorithmIdentifier(inside, 'public key algorithm', note !== undefined)
  const at = inside.position
  const { bytes: bits, unusedBits } = inside.bitString()
  if (note !== undefined && !inside.atEnd) note('trailing-elements', 'public key')
  else inside.finish()
  const key = new DerReader(inside.bytes, 'public key', at, inside.end)
  if (unusedBits !== 0) throw key.fail('the key has unused bits')
  const type = keyType(algorithm.oid, algorithm.parameters, bits, key)
  return { type, spki: reader.bytes.subarray(from, inside.end), bits }
}

/** Parses a SubjectPublicKeyInfo on its own. Throws X509_MALFORMED. */
export function parsePublicKey(spki: Uint8Array): PublicKeyInfo {
  const reader = new DerReader(spki, 'public key')
  const key = readPublicKey(reader)
  reader.finish()
  return key
}

const imported = new WeakMap<Uint8Array, KeyObject>()

/** node's key object for a SubjectPublicKeyInfo. Costs half a verification, so it is kept as long as `spki` itself. */
export function importPublicKey(spki: Uint8Array): KeyObject {
  const known = imported.get(spki)
  if (known !== undefined) return known
  const key = createPublicKey({ key: bufferOf(spki), format: 'der', type: 'spki' })
  imported.set(spki, key)
  return key
}

/** The same memory as the Buffer that node:crypto takes keys in. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

function keyType(oid: string, parameters: Uint8Array | undefined, bits: Uint8Array, at: DerReader): string {
  switch (oid) {
    case oids.ecPublicKey:
      return ecKeyType(parameters, bits, at)
    case oids.rsaEncryption:
      return rsaKeyType(parameters, bits, at)
    case oids.ed25519:
    case oids.x25519: {
      const name = oid === oids.ed25519 ? 'Ed25519' : 'X25519'
      if (parameters !== undefined) throw at.fail(`${name} key with parameters`)
      if (bits.length !== 32) throw at.fail(`${name} key of ${bits.length} bytes, must be 32`)
      return name
    }
    case oids.dsa:
      return dsaKeyType(parameters, bits, at)
    default:
      return oid
  }
}

function ecKeyType(parameters: Uint8Array | undefined, bits: Uint8Array, at: DerReader): string {
  if (parameters === undefined) throw at.fail('EC key without parameters')
  const curve = curves.get(new DerReader(parameters, 'EC parameters').oid())
  if (curve === undefined) throw at.fail('unsupported elliptic curve')
  if (!isOnCurve(curve, bits)) throw at.fail(`not an uncompressed point of ${curve.name}`)
  return curve.name
}

/** Go still reads DSA keys (p, q, g as parameters) and verifies nothing with them. */
function dsaKeyType(parameters: Uint8Array | undefined, bits: Uint8Array, at: DerReader): string {
  if (parameters === undefined) throw at.fail('DSA key without parameters')
  const outer = new DerReader(parameters, 'DSA parameters')
  const inside = outer.enter(tags.sequence)
  const value = new DerReader(bits, 'DSA public key')
  const numbers = [inside.integer(), inside.integer(), inside.integer(), value.integer()]
  inside.finish()
  value.finish()
  const positive = numbers.every(number => (number[0] ?? 0) < 0x80 && number.some(byte => byte !== 0))
  if (!positive) throw at.fail('DSA key with a number that is not positive')
  return 'DSA'
}

function rsaKeyType(parameters: Uint8Array | undefined, bits: Uint8Array, at: DerReader): string {
  if (parameters === undefined || !sameBytes(parameters, encodedNull))
    throw at.fail('RSA key without NULL parameters')
  const reader = new DerReader(bits, 'RSA public key')
  const key = reader.enter(tags.sequence)
  reader.finish()
  const modulus = key.integer('RSA modulus')
  const exponent = key.smallInteger('RSA public exponent')
  key.finish()
  // Go's parser takes an even modulus or exponent and its verifier then refuses the key; here it is refused at once.
  if ((modulus[0] ?? 0) >= 0x80 || (modulus.at(-1) ?? 0) % 2 === 0)
    throw at.fail('RSA modulus is not a positive odd number')
  if (exponent < 3 || exponent > 0x7fffffff || exponent % 2 === 0) throw at.fail('unusable RSA exponent')
  const top = modulus.findIndex(byte => byte !== 0)
  const bitLength = (modulus.length - top) * 8 - (Math.clz32(modulus[top] ?? 0) - 24)
  return `RSA-${bitLength}`
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
