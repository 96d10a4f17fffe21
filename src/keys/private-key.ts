import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { inspect } from 'node:util'
import { RollcallError } from '../errors.ts'
import type { Random } from '../ports.ts'
import { algorithmFacts, type SignatureAlgorithm } from '../x509/algorithms.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { publicHalfOf } from './public-half.ts'
import { Secret } from './secret.ts'
import { signatureAlgorithmOf } from './signature-algorithm.ts'
import type { Signer } from './signer.ts'

/** The keys Rollcall makes. */
export type KeyAlgorithm = 'ECDSA-P256' | 'ECDSA-P384' | 'RSA-2048' | 'RSA-3072' | 'RSA-4096' | 'Ed25519'

/** A signer whose private key is in this process's memory and can be written to a file. */
export interface PrivateKeySigner extends Signer {
  /** PEM: SEC1 for EC and PKCS#1 for RSA, as client-go writes them; PKCS#8 for Ed25519. */
  exportPem(): Secret
}

/**
 * A new key. Ed25519 keys come from `random` alone, so a simulation makes the same ones from the same seed; others come
 * from the operating system.
 */
export function generateSigner(algorithm: KeyAlgorithm, random: Random): PrivateKeySigner {
  return new MemorySigner(generateKey(algorithm, random))
}

/** The signer of a PEM key: SEC1, PKCS#1 or PKCS#8, unencrypted. The first block that is a private key counts. */
export function loadSigner(pem: Secret | string): PrivateKeySigner {
  return new MemorySigner(importKey(typeof pem === 'string' ? pem : pem.reveal()))
}

/** Whether certificate (or request) and signer hold the same public key. */
export function keyMatches(signer: Pick<Signer, 'publicKey'>, certificate: { spki: Uint8Array }): boolean {
  return Buffer.compare(signer.publicKey, certificate.spki) === 0
}

/**
 * Whether the signer's key is in this process's memory: what it signs, OpenSSL signs here, with the key whose public half it
 * shows. Not to be had by looking like one.
 */
export function holdsItsKey(signer: Signer): boolean {
  return MemorySigner.is(signer)
}

class MemorySigner implements PrivateKeySigner {
  readonly publicKey: Uint8Array
  readonly algorithm: SignatureAlgorithm
  readonly #key: KeyObject
  readonly #digest: string | undefined

  constructor(key: KeyObject) {
    this.publicKey = publicHalfOf(key)
    this.algorithm = signatureAlgorithmOf(parsePublicKey(this.publicKey).type)
    this.#key = key
    this.#digest = algorithmFacts(this.algorithm).digest
  }

  static is(signer: object): boolean {
    return #key in signer && !Object.hasOwn(signer, 'sign')
  }

  // Synchronous on purpose: a P-256 signature (about 20 microseconds) costs less than a hop to the thread pool, and the
  // order of events stays the same on every machine.
  async sign(tbs: Uint8Array): Promise<Uint8Array> {
    return new Uint8Array(sign(this.#digest ?? null, tbs, this.#key))
  }

  exportPem(): Secret {
    return new Secret(exportKey(this.#key))
  }

  toString(): string {
    return `[signer ${this.algorithm}]`
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect.custom](): string {
    return this.toString()
  }
}

function exportKey(key: KeyObject): string {
  const type = key.asymmetricKeyType === 'ec' ? 'sec1' : key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'pkcs8'
  return key.export({ format: 'pem', type }).toString()
}

function generateKey(algorithm: KeyAlgorithm, random: Random): KeyObject {
  switch (algorithm) {
    case 'ECDSA-P256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    case 'ECDSA-P384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey
    case 'Ed25519':
      return ed25519FromSeed(random.bytes(32))
    case 'RSA-2048':
    case 'RSA-3072':
    case 'RSA-4096':
      return generateKeyPairSync('rsa', { modulusLength: Number(algorithm.slice('RSA-'.length)) }).privateKey
  }
}

/** RFC 8410: PKCS#8 of an Ed25519 key is this prefix and the 32 bytes of its seed. */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

function ed25519FromSeed(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([ed25519Prefix, seed]), format: 'der', type: 'pkcs8' })
}

const privateKeyBlock = /-----BEGIN ((?:EC |RSA |)PRIVATE KEY)-----[\s\S]*?-----END \1-----/

function importKey(text: string): KeyObject {
  const block = privateKeyBlock.exec(text)?.[0]
  if (block === undefined) {
    throw new RollcallError(
      'X509_MALFORMED',
      'no unencrypted private key (SEC1, PKCS#1 or PKCS#8) in the PEM text',
    )
  }
  try {
    return createPrivateKey(block)
  } catch {
    // node's error may quote the input; this one must not.
    throw new RollcallError('X509_MALFORMED', 'the private key in the PEM text cannot be read')
  }
}
