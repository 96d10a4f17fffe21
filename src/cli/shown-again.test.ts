import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../testing/manual-clock.ts'
import type { CommandIo } from './command-io.ts'
import { shownAgain } from './shown-again.ts'

test('without --watch it is shown once, with it every two seconds until it is stopped', async () => {
  const clock = createManualClock(0)
  let printed = ''
  const io: CommandIo = {
    stdout: text => {
      printed += text
    },
    stderr() {},
    clock,
    isTerminal: false,
    connect: () => assert.fail('nobody connects'),
    exitWith() {},
  }
  const show = async () => io.stdout('x')
  await shownAgain(io, undefined, show)
  assert.equal(printed, 'x')
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = shownAgain(io, true, show, () => promise)
  for (let second = 0; second < 5; second++) await clock.advance(1000)
  assert.equal(printed, 'xxxx')
  resolve()
  await running
  assert.equal(clock.pending(), 0)
})
