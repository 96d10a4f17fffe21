import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { generateSigner } from '../../../../keys/private-key.ts'
import { seededRandom } from '../../../../testing/seeded-random.ts'
import { jwsIsSignedBy, parseJws, requireEs256, signJws } from './json-web-signature.ts'

const signer = generateSigner('ECDSA-P256', seededRandom(1))
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const other = generateSigner('ECDSA-P256', seededRandom(2))

test('A token verifies with its key in another implementation, and with no other key', async () => {
  // Many, since r and s are shorter than 32 bytes now and then.
  for (let round = 0; round < 300; round++) {
    const token = await signJws({ round }, 'key', signer)
    const jws = parseJws(token)
    assert.ok(jws)
    assert.deepEqual([jws.algorithm, jws.keyId, jws.payload], ['ES256', 'key', { round }])
    assert.ok(jwsIsSignedBy(jws, signer.publicKey))
    assert.ok(!jwsIsSignedBy(jws, other.publicKey))
    const key = createPublicKey({ key: Buffer.from(signer.publicKey), format: 'der', type: 'spki' })
    const input = Buffer.from(jws.signingInput)
    assert.ok(verify('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, jws.signature))
  }
})

test('No byte of a token can be another one', async () => {
  const token = await signJws({ sub: 'a' }, 'key', signer)
  for (let at = 0; at < token.length; at++) {
    // The last character has bits that decoders pass over: all of its other values are tried.
    const others = at === token.length - 1 ? [...alphabet] : ['A', 'E']
    for (const other of others.filter(letter => letter !== token[at])) {
      const jws = parseJws(`${token.slice(0, at)}${other}${token.slice(at + 1)}`)
      assert.ok(!jws || !jwsIsSignedBy(jws, signer.publicKey), `character ${at}`)
    }
  }
})

test('The header never chooses the algorithm', async () => {
  const [, payload = ''] = (await signJws({}, 'key', signer)).split('.')
  for (const alg of ['none', 'HS256', 'RS256', undefined]) {
    const head = Buffer.from(JSON.stringify({ alg })).toString('base64url')
    const jws = parseJws(`${head}.${payload}.AAAA`)
    assert.ok(jws && !jwsIsSignedBy(jws, signer.publicKey))
  }
})

test('Whatever is no token is undefined, and never an exception', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
      const jws = parseJws([a, b, c].join('.'))
      assert.ok(!jws || !jwsIsSignedBy(jws, signer.publicKey))
    }),
  )
})

test('Only a P-256 key signs tokens', () => {
  assert.throws(() => requireEs256(generateSigner('Ed25519', seededRandom(3))), /ECDSA P-256/)
})
