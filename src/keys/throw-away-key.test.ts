import assert from 'node:assert/strict'
import { test } from 'node:test'
import { algorithmFacts, type SignatureAlgorithm } from '../x509/algorithms.ts'
import { throwAwaySignature } from './throw-away-key.ts'

const lengths = {
  Ed25519: [64, 64],
  'ecdsa-with-SHA256': [60, 72],
  'ecdsa-with-SHA384': [90, 104],
  'ecdsa-with-SHA512': [120, 139],
  sha256WithRSAEncryption: [256, 256],
  sha384WithRSAEncryption: [256, 256],
  sha512WithRSAEncryption: [256, 256],
} satisfies Record<SignatureAlgorithm, [number, number]>

test('a throw-away signature has the form of a signature by the algorithm', () => {
  for (const [algorithm, [least, most]] of Object.entries(lengths) as [SignatureAlgorithm, number[]][]) {
    const { length } = throwAwaySignature(new Uint8Array(300), algorithm)
    assert.ok(length >= (least ?? 0) && length <= (most ?? 0), `${algorithmFacts(algorithm).go}: ${length}`)
  }
})
