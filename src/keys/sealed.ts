/**
 * A secret sealed to one program: X25519, HKDF-SHA256, AES-256-GCM. Who carries it cannot read it, and what it is bound to
 * (`about`) has to be said again to open it, so that it cannot be handed to another node or for another role.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { RollcallError } from '../errors.ts'
import type { Random } from '../ports.ts'
import { Secret } from './secret.ts'

/** RFC 8410: PKCS#8 of an X25519 key is this prefix and its 32 bytes; SubjectPublicKeyInfo the other one. */
const privatePrefix = Buffer.from('302e020100300506032b656e04220420', 'hex')
const publicPrefix = Buffer.from('302a300506032b656e032100', 'hex')
const keyLength = 32
const nonceLength = 12
const tagLength = 16

export interface SealingKey {
  /** 32 bytes. */
  publicKey: Uint8Array
  /** Throws RollcallError SEALED_UNREADABLE for what was sealed to another key, about something else, or spoiled. */
  open(sealed: Uint8Array, about: string): Secret
}

/** A key that never leaves the memory of this process: what was sealed to it is of no use to anybody after its end. */
export function newSealingKey(random: Random): SealingKey {
  const { key, publicKey } = newKey(random)
  return {
    publicKey,
    open(sealed, about) {
      try {
        return opened(Buffer.from(sealed), about, key, publicKey)
      } catch {
        // Which check failed helps only who tries.
        throw new RollcallError(
          'SEALED_UNREADABLE',
          'A sealed secret cannot be opened; it has to be sealed anew.',
        )
      }
    },
  }
}

/** Seals to the 32 bytes of `recipient`. Throws RangeError for bytes that are no X25519 key. */
export function seal(secret: Secret, recipient: Uint8Array, about: string, random: Random): Uint8Array {
  if (recipient.length !== keyLength) throw new RangeError('an X25519 key has 32 bytes')
  const { key, publicKey } = newKey(random)
  const nonce = random.bytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', shared(key, recipient, publicKey, recipient), nonce)
  cipher.setAAD(Buffer.from(about))
  const text = Buffer.concat([cipher.update(secret.reveal(), 'utf8'), cipher.final()])
  return new Uint8Array(Buffer.concat([publicKey, nonce, text, cipher.getAuthTag()]))
}

function opened(sealed: Buffer, about: string, key: KeyObject, publicKey: Uint8Array): Secret {
  const sender = sealed.subarray(0, keyLength)
  const nonce = sealed.subarray(keyLength, keyLength + nonceLength)
  const decipher = createDecipheriv('aes-256-gcm', shared(key, sender, sender, publicKey), nonce)
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(sealed.subarray(-tagLength))
  const text = sealed.subarray(keyLength + nonceLength, -tagLength)
  return new Secret(Buffer.concat([decipher.update(text), decipher.final()]).toString())
}

function shared(key: KeyObject, other: Uint8Array, sender: Uint8Array, recipient: Uint8Array): Buffer {
  const publicKey = createPublicKey({
    key: Buffer.concat([publicPrefix, other]),
    format: 'der',
    type: 'spki',
  })
  const secret = diffieHellman({ privateKey: key, publicKey })
  return Buffer.from(
    hkdfSync('sha256', secret, Buffer.concat([sender, recipient]), 'rollcall.dev/sealed/v1', 32),
  )
}

function newKey(random: Random): { key: KeyObject; publicKey: Uint8Array } {
  const pkcs8 = Buffer.concat([privatePrefix, random.bytes(keyLength)])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return { key, publicKey: new Uint8Array(spki.subarray(publicPrefix.length)) }
}
