import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import { parseAttestation, parseSignature, verifyAttestation } from './attest.ts'
import { nameOfKey, parsePublicArea } from './public-area.ts'
import { readResponse } from './session.ts'
import { recorded } from './testing/recorded.ts'
import { joined, uint16, uint32 } from './wire.ts'

const nonce = createHash('sha256').update('nonce').digest()

/** Runs it; refused as malformed is fine, anything else thrown is not. */
function tame<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (!hasCode(error, 'TPM_MALFORMED')) throw error
    return undefined
  }
}

/** Recorded bytes with some of them changed, cut or put in. */
const damaged = (bytes: Uint8Array) =>
  fc
    .array(
      fc.record({
        at: fc.nat(bytes.length - 1),
        with: fc.uint8Array({ maxLength: 6 }),
        length: fc.nat(6),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map(cuts =>
      cuts.reduce(
        (text, { at, with: put, length }) => joined(text.slice(0, at), put, text.slice(at + length)),
        bytes,
      ),
    )

const anything = (bytes: Uint8Array) => fc.oneof(damaged(bytes), fc.uint8Array({ maxLength: 400 }))

test('recorded statements are read and verified', () => {
  const { attestationKey, quote, quoteSignature, certified, creation, signingKey } = recorded
  const signed = { attested: quote, signature: quoteSignature }
  assert.equal(verifyAttestation(signed, attestationKey, nonce)?.type, 'quote')
  for (const attested of [certified, creation])
    assert.deepEqual(parseAttestation(attested).objectName, nameOfKey(signingKey))
})

test('whatever is read as a public area, an attestation, a signature or a response is read or refused as malformed', () => {
  for (const area of [recorded.endorsementKey, recorded.attestationKey, recorded.signingKey])
    fc.assert(
      fc.property(anything(area), bytes => {
        const key = tame(() => parsePublicArea(bytes))
        if (key) assert.ok(key.spki.length > 0)
      }),
    )
  for (const attested of [recorded.quote, recorded.certified, recorded.creation])
    fc.assert(fc.property(anything(attested), bytes => void tame(() => parseAttestation(bytes))))
  fc.assert(fc.property(anything(recorded.quoteSignature), bytes => void tame(() => parseSignature(bytes))))
  const response = joined(uint16(0x8001), uint32(18), uint32(0), uint16(6), new Uint8Array(6))
  fc.assert(
    fc.property(anything(response), fc.boolean(), (bytes, givesHandle) => {
      const read = tame(() => readResponse(bytes, { name: 'getRandom', givesHandle }))
      tame(() => read?.response?.parameters.sized())
    }),
  )
})

test('no changed statement, signature or nonce verifies', () => {
  const { attestationKey, quote, quoteSignature } = recorded
  const sameAs = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0
  fc.assert(
    fc.property(damaged(quote), attested => {
      fc.pre(!sameAs(attested, quote))
      const signed = { attested, signature: quoteSignature }
      assert.equal(
        tame(() => verifyAttestation(signed, attestationKey, nonce)),
        undefined,
      )
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), other => {
      fc.pre(!sameAs(other, nonce))
      const signed = { attested: quote, signature: quoteSignature }
      assert.equal(verifyAttestation(signed, attestationKey, other), undefined)
    }),
  )
})
