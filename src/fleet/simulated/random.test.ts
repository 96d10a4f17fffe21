import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from './random.ts'

test('the same seed gives the same stream on every machine', () => {
  const random = new SeededRandom('1')
  assert.deepEqual([random.float(), random.float()], [0.33469745249210237, 0.8398352023376228])
  assert.equal(Buffer.from(random.bytes(10)).toString('hex'), '2c0ed2878d4bfc2e9143')
})

test('a stream depends on its name only, not on what was drawn before', () => {
  const one = new SeededRandom('1')
  const two = new SeededRandom('1')
  two.bytes(100)
  two.stream('other').float()
  assert.deepEqual(one.stream('network').bytes(16), two.stream('network').bytes(16))
  assert.notDeepEqual(one.stream('network').bytes(16), one.stream('disk').bytes(16))
  assert.notDeepEqual(one.stream('a').bytes(16), new SeededRandom('2').stream('a').bytes(16))
})

test('numbers are spread evenly over their range', () => {
  const random = new SeededRandom('spread')
  const draws = 20_000
  const counts = new Array<number>(10).fill(0)
  for (let index = 0; index < draws; index += 1) {
    const number = random.integer(0, 9)
    counts[number] = (counts[number] ?? 0) + 1
  }
  // 5 standard deviations of a binomial with p = 0.1.
  for (const count of counts)
    assert.ok(Math.abs(count - draws / 10) < 5 * Math.sqrt(draws * 0.09), `${counts}`)
  const bits = random
    .bytes(10_000)
    .reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
  assert.ok(Math.abs(bits - 40_000) < 5 * Math.sqrt(20_000), `${bits} of 80,000 bits are set`)
})

test('gaps have the mean that was asked for', () => {
  const random = new SeededRandom('gap')
  let sum = 0
  for (let index = 0; index < 20_000; index += 1) sum += random.gap(50)
  assert.ok(Math.abs(sum / 20_000 - 50) < 5 * (50 / Math.sqrt(20_000)), `mean ${sum / 20_000}`)
})
