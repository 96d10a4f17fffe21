import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from '../ports.ts'
import { createManualClock } from './manual-clock.ts'

test('timers run in order of time, then of creation, each after the work before it', async () => {
  const clock = createManualClock(1_000)
  const seen: string[] = []
  const walk = async (name: string, step: number) => {
    for (let n = 0; n < 2; n++) {
      await sleep(clock, step)
      seen.push(`${name}@${clock.now()}`)
    }
  }
  void walk('slow', 20)
  void walk('fast', 10)
  await clock.advance(30)
  assert.deepEqual(seen, ['fast@1010', 'slow@1020', 'fast@1020'])
  await clock.advance(10)
  assert.equal(seen.at(-1), 'slow@1040')
  assert.equal(clock.pending(), 0)
})

test('a step of the wall clock moves neither timers nor the monotonic clock', async () => {
  const clock = createManualClock(0)
  let rang = false
  clock.after(100, () => (rang = true))
  clock.step(3_600_000)
  await clock.advance(99)
  assert.deepEqual([rang, clock.now(), clock.monotonic()], [false, 3_600_099, 99])
  await clock.advance(1)
  assert.equal(rang, true)
})

test('a cancelled timer does not run', async () => {
  const clock = createManualClock(0)
  clock.after(1, () => assert.fail('ran')).cancel()
  await clock.advance(2)
})
