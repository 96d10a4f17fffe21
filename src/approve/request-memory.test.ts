import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestMemory } from './request-memory.ts'

test('of changes without end ten are judged at once, then one in five seconds; others are not held up', () => {
  const memory = new RequestMemory()
  let judged = 0
  // A hundred changes a second for a minute; one that has to wait comes back when it may.
  let wakeAt = 0
  for (let now = 0; now < 60_000; now += 10) {
    if (now < wakeAt) continue
    const wait = memory.pace('flapping', now)
    if (wait === 0) judged++
    else wakeAt = now + wait
  }
  assert.ok(judged >= 20 && judged <= 22, String(judged))
  assert.equal(memory.pace('calm', 60_000), 0)
  assert.equal(memory.pace('flapping', 120_000), 0)
})
