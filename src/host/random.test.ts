import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemRandom } from './random.ts'

it('gives bytes of any length, none of them twice', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 5000; i++) seen.add(Buffer.from(systemRandom.bytes(16)).toString('hex'))
  assert.equal(seen.size, 5000)
  for (const length of [0, 1, 255, 256, 257, 10_000]) assert.equal(systemRandom.bytes(length).length, length)
  assert.ok(!seen.has('0'.repeat(32)))
})

it('gives numbers from 0 to below 1, spread evenly', () => {
  const numbers = Array.from({ length: 10_000 }, () => systemRandom.float())
  assert.ok(numbers.every(number => number >= 0 && number < 1))
  // Ten standard deviations (1/sqrt(12·10000) = 0.0029) away would be no chance.
  assert.ok(Math.abs(numbers.reduce((sum, number) => sum + number) / 10_000 - 0.5) < 0.03)
})
