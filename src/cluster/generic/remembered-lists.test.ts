import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../testing/manual-clock.ts'
import { RememberedLists } from './remembered-lists.ts'

test('a long list is read again after a minute, and at once when it has to be newer than a publication', async () => {
  const clock = createManualClock(Date.parse('2026-06-01T00:00:00Z'))
  const lists = new RememberedLists(clock)
  let reads = 0
  const read = async () => {
    reads += 1
    return []
  }
  await lists.list('pods', 0, read)
  await lists.list('pods', 0, read)
  assert.equal(reads, 1)
  await clock.advance(5000)
  const published = clock.now()
  await clock.advance(1000)
  // A pod that was made before the publication, and after the first look, mounts what was there before it.
  await lists.list('pods', published, read)
  await lists.list('pods', published, read)
  assert.equal(reads, 2)
  await clock.advance(60_000)
  await lists.list('pods', published, read)
  assert.equal(reads, 3)
})
