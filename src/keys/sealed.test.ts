import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { newSealingKey, seal } from './sealed.ts'
import { Secret } from './secret.ts'

const random = seededRandom(5)
const about = 'client|0a0b|cp-1|uid-1'

test('what is sealed to a key only that key opens, said to be about the same', () => {
  const mine = newSealingKey(random)
  const sealed = seal(new Secret('a CA key'), mine.publicKey, about, random)
  assert.equal(mine.open(sealed, about).reveal(), 'a CA key')
  assert.ok(!Buffer.from(sealed).includes('a CA key'))
  const refused = (open: () => unknown) => assert.throws(open, error => hasCode(error, 'SEALED_UNREADABLE'))
  refused(() => newSealingKey(random).open(sealed, about))
  refused(() => mine.open(sealed, 'client|0a0b|cp-2|uid-2'))
  refused(() => mine.open(new Uint8Array(3), about))
})

test('a sealed secret of which any bit was changed is refused', () => {
  const mine = newSealingKey(random)
  const sealed = seal(new Secret('a CA key'), mine.publicKey, about, random)
  fc.assert(
    fc.property(fc.nat(sealed.length * 8 - 1), bit => {
      const changed = sealed.slice()
      const at = bit >> 3
      changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7))
      // X25519 ignores the highest bit of a key (RFC 7748, 5); HKDF is bound to the bytes as they were sent.
      assert.throws(() => mine.open(changed, about))
    }),
  )
})
