import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { grantedSeconds, leafValidity } from './validity.ts'

const minute = 60
const hour = 60 * minute
const now = Date.parse('2026-03-01T12:00:00.400Z')
const caNotAfter = Date.parse('2036-03-01T12:00:00Z')

// C-35: the lifetime table at a cap of 24 h.
for (const [requested, life] of [
  [undefined, 24 * hour],
  [24 * hour, 24 * hour],
  [48 * hour, 24 * hour],
  [20 * hour, 20 * hour],
  [2 * hour, 2 * hour + 5 * minute],
  [30 * minute, 35 * minute],
  [10 * minute, 15 * minute],
] as const) {
  test(`C-35: ${requested ?? 'no'} seconds asked for give a life of ${life} seconds`, () => {
    const { notBefore, notAfter } = leafValidity(now, grantedSeconds(requested, 24 * hour), caNotAfter)
    assert.equal((notAfter - notBefore) / 1000, life)
    assert.equal(new Date(notBefore).toISOString(), '2026-03-01T11:55:00.000Z')
  })
}

test('C-34: the cap is asked before the least of ten minutes', () => {
  assert.equal(grantedSeconds(600, 300), 300)
  assert.equal(grantedSeconds(200, 300), 600)
  assert.equal(grantedSeconds(undefined, 300), 300)
})

test('C-35: a leaf never outlives its CA', () => {
  const ending = now + hour * 1000
  assert.equal(leafValidity(now, 24 * hour, ending).notAfter, ending)
})

test('C-35: a CA that expired over five minutes ago is named as expired, one that just did refuses to sign', () => {
  const refusal = (notAfter: number) => {
    try {
      leafValidity(now, hour, notAfter)
    } catch (error) {
      if (hasCode(error, 'SIGNER_UNUSABLE')) return error.message
    }
    return undefined
  }
  assert.equal(
    refusal(Date.parse('2026-03-01T11:55:00Z')),
    'the signer has expired: NotAfter=2026-03-01 11:55:00 +0000 UTC',
  )
  assert.equal(
    refusal(Date.parse('2026-03-01T12:00:00Z')),
    'refusing to sign a certificate that expired in the past: NotAfter=2026-03-01 12:00:00 +0000 UTC',
  )
})

test('a life is what was granted within five minutes, and valid now, whatever is asked and whenever', () => {
  fc.assert(
    fc.property(
      fc.option(fc.integer({ min: 600, max: 2 ** 31 - 1 }), { nil: undefined }),
      fc.integer({ min: 600, max: 10 * 365 * 24 * hour }),
      fc.integer({ min: 0, max: 2 ** 42 }),
      (requested, cap, moment) => {
        const granted = grantedSeconds(requested, cap)
        const { notBefore, notAfter } = leafValidity(moment, granted, Number.MAX_SAFE_INTEGER)
        const life = (notAfter - notBefore) / 1000
        assert.ok(life >= granted && life <= granted + 300 && granted <= cap)
        assert.ok(notBefore < moment && notAfter > moment)
        assert.equal(notAfter % 1000, 0)
      },
    ),
  )
})
