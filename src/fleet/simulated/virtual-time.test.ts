import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VirtualTime } from './virtual-time.ts'

test('events run in order of time, then of scheduling', async () => {
  const plan = fc.array(fc.record({ at: fc.integer({ min: 0, max: 20 }), cancel: fc.boolean() }))
  await fc.assert(
    fc.asyncProperty(plan, async events => {
      const time = new VirtualTime(0)
      const seen: { at: number; index: number }[] = []
      const timers = events.map(({ at }, index) => time.at(at, () => seen.push({ at: time.now, index })))
      for (const [index, { cancel }] of events.entries()) if (cancel) timers[index]?.cancel()
      await time.runUntil(100)
      const expected = events
        .map(({ at, cancel }, index) => ({ at, index, cancel }))
        .filter(event => !event.cancel)
        .sort((a, b) => a.at - b.at || a.index - b.index)
        .map(({ at, index }) => ({ at, index }))
      assert.deepEqual(seen, expected)
      assert.equal(time.now, 100)
      assert.equal(time.pending, 0)
    }),
    { numRuns: 50 },
  )
})

test('all promise jobs of one event end before the next event', async () => {
  const time = new VirtualTime(0)
  const seen: string[] = []
  const work = async (name: string) => {
    for (let step = 0; step < 100; step += 1) await undefined
    await new Promise<void>(resolve => process.nextTick(resolve))
    seen.push(`${name} at ${time.now}`)
  }
  for (let index = 0; index < 200; index += 1) time.at(index, () => void work(`event ${index}`))
  await time.runUntil(1000)
  assert.deepEqual(
    seen,
    Array.from({ length: 200 }, (_, index) => `event ${index} at ${index}`),
  )
})

test('an event that throws ends the run with its error', async () => {
  const time = new VirtualTime(0)
  time.at(5, () => {
    throw new Error('broken')
  })
  await assert.rejects(time.runUntil(10), /broken/)
  assert.equal(time.now, 5)
  await time.runUntil(10)
  assert.equal(time.now, 10)
})

test('runUntilHolds stops at the event that made it true, or at the deadline', async () => {
  const time = new VirtualTime(0)
  let count = 0
  const tick = () => {
    count += 1
    time.after(10, tick)
  }
  time.after(10, tick)
  assert.equal(await time.runUntilHolds(() => count === 3, 1000), true)
  assert.equal(time.now, 30)
  assert.equal(await time.runUntilHolds(() => count === 1000, 100), false)
  assert.equal(time.now, 100)
})

test('cancelled timers do not pile up', async () => {
  const time = new VirtualTime(0)
  for (let index = 0; index < 10_000; index += 1) time.at(1e12, () => {}).cancel()
  assert.equal(time.pending, 0)
  await time.runUntil(1)
  assert.equal(time.events, 0)
})
