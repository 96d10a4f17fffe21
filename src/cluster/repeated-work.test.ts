import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { startRepeatedWork } from './repeated-work.ts'

test('work is done again after the time that it asked for, and in a minute when it failed', async () => {
  const clock = createManualClock(0)
  const log = recordingLog()
  const times: number[] = []
  const repeated = startRepeatedWork({
    clock,
    log,
    first: 1000,
    failure: 'it failed',
    async work() {
      times.push(clock.now())
      if (times.length === 2) throw new Error('once')
      return 5000
    },
  })
  await clock.advance(100_000)
  repeated.stop()
  assert.deepEqual(times.slice(0, 4), [1000, 6000, 66_000, 71_000])
  assert.equal(clock.pending(), 0)
})

test('nothing follows what was under way when it was stopped', async () => {
  const clock = createManualClock(0)
  const { promise, resolve } = Promise.withResolvers<number>()
  const repeated = startRepeatedWork({
    clock,
    log: recordingLog(),
    first: 0,
    failure: '',
    work: () => promise,
  })
  await clock.advance(0)
  repeated.stop()
  resolve(1)
  await clock.advance(1000)
  assert.equal(clock.pending(), 0)
})
