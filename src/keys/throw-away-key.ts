import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { algorithmFacts, type SignatureAlgorithm } from '../x509/algorithms.ts'

const keys = new Map<SignatureAlgorithm, KeyObject>()

/**
 * A signature as a signer with this algorithm would make it, by a key that nobody trusts: a structure can be looked at
 * whole before the real key signs it. The key is made once a process and never leaves it.
 */
export function throwAwaySignature(tbs: Uint8Array, algorithm: SignatureAlgorithm): Uint8Array {
  const key = keys.get(algorithm) ?? generateKey(algorithm)
  keys.set(algorithm, key)
  return sign(algorithmFacts(algorithm).digest ?? null, tbs, key)
}

const curveOf = {
  'ecdsa-with-SHA256': 'P-256',
  'ecdsa-with-SHA384': 'P-384',
  'ecdsa-with-SHA512': 'P-521',
} as const

function generateKey(algorithm: SignatureAlgorithm): KeyObject {
  switch (algorithm) {
    case 'Ed25519':
      return generateKeyPairSync('ed25519').privateKey
    case 'ecdsa-with-SHA256':
    case 'ecdsa-with-SHA384':
    case 'ecdsa-with-SHA512':
      return generateKeyPairSync('ec', { namedCurve: curveOf[algorithm] }).privateKey
    case 'sha256WithRSAEncryption':
    case 'sha384WithRSAEncryption':
    case 'sha512WithRSAEncryption':
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  }
}
