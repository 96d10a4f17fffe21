/** The SubjectPublicKeyInfo of a key pair in a token, from the attributes of its public half. */
import { RollcallError } from '../../errors.ts'
import {
  encodeBitString,
  encodedNull,
  encodeOid,
  encodeSequence,
  encodeUnsigned,
} from '../../x509/der-write.ts'
import { oids } from '../../x509/oid.ts'
import { ckk } from './cryptoki.ts'

export interface PublicAttributes {
  /** CKK_…, as the module gives it: an unsigned long of this machine. */
  keyType: Uint8Array | undefined
  ecParams: Uint8Array | undefined
  ecPoint: Uint8Array | undefined
  modulus: Uint8Array | undefined
  publicExponent: Uint8Array | undefined
}

/** DER. Throws RollcallError X509_UNSUPPORTED_KEY for what is no RSA, EC or Ed25519 key with all its attributes. */
export function spkiOf(from: PublicAttributes): Uint8Array {
  const { keyType, ecParams, ecPoint, modulus, publicExponent } = from
  const type = keyType?.[0]
  if (type === ckk.rsa && modulus && publicExponent) {
    const key = encodeSequence(encodeUnsigned(modulus), encodeUnsigned(publicExponent))
    return encodeSequence(encodeSequence(encodeOid(oids.rsaEncryption), encodedNull), encodeBitString(key))
  }
  if (type === ckk.ec && ecParams && ecPoint)
    return encodeSequence(
      encodeSequence(encodeOid(oids.ecPublicKey), ecParams),
      encodeBitString(point(ecPoint)),
    )
  if (type === ckk.ecEdwards && ecPoint) {
    const bits = point(ecPoint)
    if (bits.length === 32)
      return encodeSequence(encodeSequence(encodeOid(oids.ed25519)), encodeBitString(bits))
  }
  throw new RollcallError(
    'X509_UNSUPPORTED_KEY',
    'the key in the token is no RSA, ECDSA or Ed25519 key whose public half can be read; use ECDSA P-256',
  )
}

/** CKA_EC_POINT is an OCTET STRING around the point; some tokens give the point bare. */
function point(value: Uint8Array): Uint8Array {
  const long = value[1] === 0x81
  const start = long ? 3 : 2
  const wrapped = value[0] === 0x04 && value.length === start + (value[long ? 2 : 1] ?? 0)
  return wrapped ? value.subarray(start) : value
}
