import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import {
  decodeBegin,
  decodeChallenge,
  decodeFinish,
  encodeBegin,
  encodeChallenge,
  encodeFinish,
} from './encoding.ts'
import { qualifyingData } from './messages.ts'

const bytes = (minLength = 1, maxLength = 300) => fc.uint8Array({ minLength, maxLength })
const text = fc.string({ minLength: 1, maxLength: 80 })
const machine = fc.oneof(
  fc.record({ type: fc.constant('TPM' as const), endorsementKey: bytes(), attestationKey: bytes() }),
  fc.record({ type: fc.constant('PublicKey' as const), publicKey: bytes() }),
)
const proof = fc.oneof(
  fc.record({ type: fc.constant('TPM' as const), secret: bytes(), attested: bytes(), signature: bytes() }),
  fc.record({ type: fc.constant('PublicKey' as const), signature: bytes() }),
)
const begin = fc.record({ nodeName: text, machine, spki: bytes() })
const challenge = fc.record(
  {
    id: text,
    nonce: bytes(),
    clusterUid: text,
    credential: fc.record({ credentialBlob: bytes(), encryptedSecret: bytes() }),
  },
  { requiredKeys: ['id', 'nonce', 'clusterUid'] },
)

const overWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const plain = (value: object) => JSON.parse(JSON.stringify(value)) as unknown

test('what is written is read', () => {
  fc.assert(
    fc.property(begin, it => assert.deepEqual(plain(decodeBegin(overWire(encodeBegin(it)))), plain(it))),
  )
  fc.assert(
    fc.property(begin, text, proof, (first, id, proved) => {
      const it = { ...first, challenge: id, proof: proved }
      assert.deepEqual(plain(decodeFinish(overWire(encodeFinish(it)))), plain(it))
    }),
  )
  fc.assert(
    fc.property(challenge, it =>
      assert.deepEqual(plain(decodeChallenge(overWire(encodeChallenge(it)))), plain(it)),
    ),
  )
})

test('whatever else comes is refused as malformed', () => {
  for (const decode of [decodeBegin, decodeFinish, decodeChallenge])
    fc.assert(
      fc.property(fc.jsonValue(), value =>
        assert.throws(
          () => decode(value),
          (error: unknown) => hasCode(error, 'ATTESTATION_REFUSED'),
        ),
      ),
    )
})

test('a message with one part exchanged for anything is read or refused', () => {
  fc.assert(
    fc.property(begin, fc.constantFrom('nodeName', 'machine', 'spki'), fc.jsonValue(), (it, part, value) => {
      try {
        decodeBegin({ ...encodeBegin(it), [part]: value })
      } catch (error) {
        assert.ok(hasCode(error, 'ATTESTATION_REFUSED'))
      }
    }),
  )
})

test('whatever of nonce, cluster, node and key is another, the qualifying data is', () => {
  const parts = { nonce: new Uint8Array(32), clusterUid: 'u', nodeName: 'n', spki: Uint8Array.of(48) }
  const data = (changes: Partial<typeof parts>) => {
    const all = { ...parts, ...changes }
    return Buffer.from(qualifyingData(all, all)).toString('hex')
  }
  const all = [
    data({}),
    data({ nonce: new Uint8Array(32).fill(1) }),
    data({ clusterUid: 'v' }),
    data({ nodeName: 'm' }),
    data({ spki: Uint8Array.of(49) }),
  ]
  assert.equal(new Set(all).size, all.length)
})
