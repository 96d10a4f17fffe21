import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffAfter, pauseForClock } from './backoff.ts'

test('K-36: 2, 4, 8, 16 s stretched by up to a tenth, then 32 s for ever', () => {
  const delays = [1, 2, 3, 4, 5, 6, 1000].map(failures => backoffAfter(failures, 0))
  assert.deepEqual(delays, [2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000])
  assert.equal(backoffAfter(1, 0.5), 2100)
  assert.equal(backoffAfter(5, 0.99), 32_000)
})

test('while a clock is wrong: every five minutes, ever rarer where the one held may serve, sooner where it would lapse', () => {
  const minute = 60_000
  assert.deepEqual(
    [1, 2, 3, 4, 5, 100].map(failures => pauseForClock('premature', failures, 0) / minute),
    [5, 10, 20, 30, 30, 30],
  )
  assert.equal(pauseForClock('expired', 7, -minute), 5 * minute)
  assert.equal(pauseForClock('renewal', 1, 18 * minute), 5 * minute)
  assert.equal(pauseForClock('renewal', 4, 3 * minute), 2.4 * minute)
  assert.equal(pauseForClock('renewal', 4, 1001), 800)
})
