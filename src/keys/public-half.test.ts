import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { publicHalfOf } from './public-half.ts'

const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey

test('the public half is what OpenSSL itself writes, for every kind of key', () => {
  const some: readonly (() => KeyObject)[] = [
    () => curve('P-256'),
    () => curve('P-384'),
    () => curve('P-521'),
    () => curve('secp224r1'),
    () => generateKeyPairSync('x25519').privateKey,
    () => generateKeyPairSync('ed25519').privateKey,
  ]
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  // Several of each, for numbers that begin with zeros.
  const keys = [rsa, ...some.flatMap(make => Array.from({ length: 200 }, make))]
  for (const key of keys) {
    const expected = createPublicKey(key).export({ format: 'der', type: 'spki' })
    assert.deepEqual(Buffer.from(publicHalfOf(key)), expected)
  }
})
