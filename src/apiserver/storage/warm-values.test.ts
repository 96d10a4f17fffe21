import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WarmValues } from './warm-values.ts'

const size = 100

/** So many entries that rest, and which of them were read from the disk. */
function setUp(count: number, limit: number) {
  const reads: string[] = []
  const values = new WarmValues({
    limit,
    read(key) {
      reads.push(key)
      return new Uint8Array(size)
    },
  })
  const entries = Array.from({ length: count }, (_, index) =>
    values.resting({ key: `k${index}`, createRevision: 1, modRevision: 1 }),
  )
  return { entries, reads }
}

test('a value that is asked for again is read from the disk twice and no more', () => {
  const { entries, reads } = setUp(1, 10 * size)
  for (let time = 0; time < 5; time++) assert.equal(entries[0]?.value.length, size)
  assert.deepEqual(reads, ['k0', 'k0'])
})

test('reading everything once or twice does not drive out what is asked for all the time', () => {
  const { entries, reads } = setUp(10_000, 10 * size)
  const [often, ...others] = entries
  for (let time = 0; time < 2; time++) assert.ok(often?.value)
  for (let scan = 0; scan < 2; scan++) for (const other of others) assert.ok(other.value)
  reads.length = 0
  assert.ok(often?.value)
  assert.deepEqual(reads, [])
})

test('what was warm for the longest goes first when there is no more room', () => {
  const { entries, reads } = setUp(3, 2 * size)
  for (const entry of entries) for (let time = 0; time < 2; time++) assert.ok(entry.value)
  reads.length = 0
  for (const entry of entries.toReversed()) assert.ok(entry.value)
  assert.deepEqual(reads, ['k0'])
})
