import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import type { Rpc } from '../../ports.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { createCri } from './cri.ts'
import { RuntimeWatch } from './runtime-watch.ts'

const second = 1000

/** A runtime without containers, which counts the looks; `events` is what answers GetContainerEvents. */
async function watched(events: (signal: AbortSignal) => AsyncIterable<Uint8Array>) {
  const clock = createManualClock(Date.UTC(2026, 4))
  const made = { looks: 0, asked: 0, silent: false }
  const rpc: Rpc = {
    async call(method) {
      if (made.silent) throw Object.assign(new Error('no connection'), { code: 14, details: 'no connection' })
      if (method.endsWith('/ListPodSandbox')) made.looks++
      return new Uint8Array()
    },
    stream(_method, _request, signal) {
      made.asked++
      return events(signal)
    },
    close() {},
  }
  const watch = new RuntimeWatch({
    cri: createCri(rpc, 'unix:///run/test.sock'),
    endpoint: 'unix:///run/test.sock',
    name: 'test',
    agent: 'a',
    disk: asynchronousDisk(new MachineDisk(new SeededRandom('watch'), clock), async call => call()),
    clock,
    log: recordingLog(),
    busy: () => new Set(),
    onChange() {},
  })
  await watch.start([])
  await settle()
  return {
    clock,
    made,
    async end() {
      await watch.stop()
      assert.equal(clock.pending(), 0)
    },
  }
}

/** Events that a test tells of, until it ends them. */
function channel() {
  let told: PromiseWithResolvers<boolean> = Promise.withResolvers()
  async function* events(signal: AbortSignal) {
    signal.addEventListener('abort', () => told.resolve(false))
    while (await told.promise) {
      told = Promise.withResolvers()
      yield new Uint8Array()
    }
    told = Promise.withResolvers()
  }
  return { events, tell: () => told.resolve(true), end: () => told.resolve(false) }
}

function unimplemented(): AsyncIterable<Uint8Array> {
  const failure = Object.assign(new Error('unknown method'), { code: 12, details: 'unknown method' })
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failure) }) }
}

test('a runtime that tells of events is looked at when it tells of one, and otherwise each ten seconds', async () => {
  const { events, tell } = channel()
  const { clock, made, end } = await watched(events)
  const first = made.looks
  await clock.advance(9 * second)
  assert.equal(made.looks, first)
  await clock.advance(second)
  assert.equal(made.looks, first + 1)
  for (const _ of [1, 2, 3]) {
    tell()
    await settle()
  }
  await clock.advance(50)
  await settle()
  assert.equal(made.looks, first + 2, 'a crowd of events is one look')
  await end()
})

test('events that end are asked for again, and until then it is looked at each second', async () => {
  const { events, end: endEvents } = channel()
  const { clock, made, end } = await watched(events)
  endEvents()
  await settle()
  const { looks } = made
  for (let passed = 0; passed < 5; passed++) await clock.advance(second)
  assert.ok(made.looks >= looks + 5, `${made.looks - looks} looks`)
  assert.equal(made.asked, 1)
  for (let passed = 0; passed < 7; passed++) await clock.advance(second)
  assert.equal(made.asked, 2)
  await end()
})

test('a runtime that knows no events is looked at each second and not asked again before it was replaced', async () => {
  const { clock, made, end } = await watched(unimplemented)
  const { looks } = made
  for (let passed = 0; passed < 30; passed++) await clock.advance(second)
  assert.ok(made.looks >= looks + 30)
  assert.equal(made.asked, 1)
  made.silent = true
  for (let passed = 0; passed < 3; passed++) await clock.advance(second)
  made.silent = false
  for (let passed = 0; passed < 3; passed++) await clock.advance(second)
  assert.equal(made.asked, 2)
  await end()
})
