import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rotationDeadline } from './rotation-deadline.ts'

const minute = 60_000
const hour = 60 * minute

test('K-33: the deadline runs from 70 to 90 % of the lifetime, counted from notBefore', () => {
  const year = { notBefore: 1_000_000, notAfter: 1_000_000 + 8760 * hour }
  assert.equal(rotationDeadline(year, 0), 1_000_000 + 8760 * hour * 0.7)
  assert.equal(rotationDeadline(year, 0.5), 1_000_000 + 8760 * hour * 0.8)
})

test('a certificate of two minutes that is dated back by five is not renewed on arrival', () => {
  const now = 100 * hour
  const short = { notBefore: now - 5 * minute, notAfter: now + 2 * minute }
  assert.ok(rotationDeadline(short, 0) < now, 'the plain rule would renew at once')
  assert.equal(rotationDeadline(short, 0, now), now + 84_000)
  assert.equal(rotationDeadline(short, 0.5, now), now + 96_000)
})

test('however late it arrives, a certificate is left alone for half of what is left, and renewed before it lapses', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 8760 * hour }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (lifetime, arrival, chance) => {
        const obtainedAt = Math.floor(lifetime * arrival)
        const deadline = rotationDeadline({ notBefore: 0, notAfter: lifetime }, chance, obtainedAt)
        assert.ok(deadline >= Math.floor(obtainedAt + (lifetime - obtainedAt) / 2))
        assert.ok(deadline <= lifetime)
      },
    ),
  )
})

test('for any lifetime and chance the deadline lies inside the validity and in its last third', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.integer({ min: 1000, max: 10 * 8760 * hour }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (notBefore, lifetime, chance) => {
        const deadline = rotationDeadline({ notBefore, notAfter: notBefore + lifetime }, chance)
        assert.ok(deadline >= notBefore + Math.floor(lifetime * 0.7))
        assert.ok(deadline <= notBefore + Math.ceil(lifetime * 0.9))
      },
    ),
  )
})
