import { RollcallError } from '../../errors.ts'
import { type Attribute, cka, cko, type Handle } from './cryptoki.ts'
import { spkiOf } from './public-key.ts'
import type { Connection } from './token.ts'
import type { Pkcs11Uri } from './uri.ts'

export type KeyMatch = Pick<Pkcs11Uri, 'object' | 'id'>

export interface KeyInToken {
  privateKey: Handle
  /** SubjectPublicKeyInfo in DER, from the public key beside the private one. */
  spki: Uint8Array
}

/** Throws RollcallError TOKEN_KEY_ABSENT, KEY_URI_INVALID when several keys fit, X509_UNSUPPORTED_KEY. */
export function findKey({ cryptoki, info }: Connection, session: Handle, match: KeyMatch): KeyInToken {
  const where = `token ${JSON.stringify(info.label)}`
  const named = `${where}: no private key ${describe(match)}`
  const [privateKey, second] = cryptoki.findObjects(session, template(cko.privateKey, match), 2)
  if (!privateKey)
    throw new RollcallError('TOKEN_KEY_ABSENT', `${named} is there; make it, or correct the URI.`)
  if (second)
    throw new RollcallError(
      'KEY_URI_INVALID',
      `${where}: more than one private key fits ${describe(match)}; add id=… to the URI.`,
    )
  const [id, label] = cryptoki.attributes(session, privateKey, [cka.id, cka.label])
  const beside = id?.length ? { id } : { object: Buffer.from(label ?? []).toString() }
  const [publicKey] = cryptoki.findObjects(session, template(cko.publicKey, beside), 1)
  if (!publicKey)
    throw new RollcallError(
      'TOKEN_KEY_ABSENT',
      `${where}: the public key with the CKA_ID of private key ${describe(match)} is missing; put it into the token too.`,
    )
  return { privateKey, spki: publicKeyOf({ cryptoki }, session, publicKey) }
}

/** SubjectPublicKeyInfo in DER of a public key object. Throws X509_UNSUPPORTED_KEY. */
export function publicKeyOf(
  { cryptoki }: Pick<Connection, 'cryptoki'>,
  session: Handle,
  publicKey: Handle,
): Uint8Array {
  const [keyType, ecParams, ecPoint, modulus, publicExponent] = cryptoki.attributes(session, publicKey, [
    cka.keyType,
    cka.ecParams,
    cka.ecPoint,
    cka.modulus,
    cka.publicExponent,
  ])
  return spkiOf({ keyType, ecParams, ecPoint, modulus, publicExponent })
}

function template(keyClass: number, { object, id }: KeyMatch): Attribute[] {
  return [
    { type: cka.class, value: keyClass },
    ...(object === undefined ? [] : [{ type: cka.label, value: object }]),
    ...(id === undefined ? [] : [{ type: cka.id, value: id }]),
  ]
}

function describe({ object, id }: KeyMatch): string {
  const parts = [
    object === undefined ? [] : `object=${JSON.stringify(object)}`,
    id === undefined ? [] : `id=${Buffer.from(id).toString('hex')}`,
  ].flat()
  return parts.join(' ') || '(of any name)'
}
