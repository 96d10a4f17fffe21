import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../ports.ts'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { retryDelay, startWorkQueue, type WorkQueueOptions } from './work-queue.ts'

function setUp(process: WorkQueueOptions['process'], more: Partial<WorkQueueOptions> = {}) {
  const clock = createManualClock(0)
  return {
    clock,
    queue: startWorkQueue({ name: 'test', workers: 1, clock, log: silentLog, process, ...more }),
  }
}

/** Pieces of work that wait until told to end. */
function gatedWork() {
  const running: string[] = []
  const done: string[] = []
  const gates = new Map<string, () => void>()
  return {
    running,
    done,
    async process(key: string) {
      running.push(key)
      await new Promise<void>(resolve => gates.set(key, resolve))
      running.splice(running.indexOf(key), 1)
      done.push(key)
    },
    async end(key: string) {
      gates.get(key)?.()
      await settle()
    },
  }
}

test('a key that waits already is not queued twice, and keys come in order', async () => {
  const done: string[] = []
  const { queue } = setUp(async key => void done.push(key))
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
  await settle()
  assert.deepEqual(done, ['a', 'b', 'c'])
})

test('a key added while it is worked on is worked on once more afterwards, never twice at once', async () => {
  const work = gatedWork()
  const { queue } = setUp(work.process, { workers: 3 })
  queue.add('a')
  await settle()
  queue.add('a')
  queue.add('a')
  await settle()
  assert.deepEqual(work.running, ['a'])
  await work.end('a')
  assert.deepEqual([work.done, work.running], [['a'], ['a']])
  await work.end('a')
  assert.deepEqual([work.done, work.running], [['a', 'a'], []])
})

test('no more than the given workers work at once', async () => {
  const work = gatedWork()
  const { queue } = setUp(work.process, { workers: 2 })
  for (const key of ['a', 'b', 'c']) queue.add(key)
  await settle()
  assert.deepEqual([work.running, queue.size()], [['a', 'b'], 1])
  await work.end('b')
  assert.deepEqual(work.running, ['a', 'c'])
})

test('of those that wait for a worker the one of the smallest rank comes first', async () => {
  const work = gatedWork()
  const ranks: Record<string, number> = { a: 3, b: 2, c: 1, d: 2 }
  const { queue } = setUp(work.process, { workers: 1, rank: key => ranks[key] ?? 0 })
  for (const key of ['a', 'b', 'd']) queue.add(key)
  await settle()
  queue.add('c')
  const order = []
  while (work.running.length > 0) {
    const [key = ''] = work.running
    order.push(key)
    await work.end(key)
  }
  assert.deepEqual(order, ['b', 'c', 'd', 'a'])
})

test('C-2: a failing key comes back after 200 ms, doubling, and success forgets it', async () => {
  const tries: number[] = []
  const log = recordingLog()
  const { clock, queue } = setUp(
    async () => {
      tries.push(clock.now())
      if (tries.length <= 4) throw new Error('not yet')
    },
    { log },
  )
  queue.add('a')
  await clock.advance(10_000)
  assert.deepEqual(tries, [0, 200, 600, 1400, 3000])
  assert.equal(queue.failures('a'), 0)
  assert.equal(log.lines.length, 4)
  assert.deepEqual(log.fields[3], { error: 'not yet', failures: 4, waitMilliseconds: 1600 })
})

test('a retry never waits longer than 1000 s', () => {
  assert.deepEqual([0, 1, 12, 13, 2000].map(retryDelay), [200, 400, 819_200, 1_000_000, 1_000_000])
})

test('a piece of work can say when to look again', async () => {
  const tries: number[] = []
  const { clock, queue } = setUp(async () => {
    tries.push(clock.now())
    return tries.length < 3 ? 5_000 : undefined
  })
  queue.add('a')
  await clock.advance(60_000)
  assert.deepEqual(tries, [0, 5_000, 10_000])
})

test('of several delays for a key the earliest counts, and adding it at once does not cancel it', async () => {
  const tries: number[] = []
  const { clock, queue } = setUp(async () => void tries.push(clock.now()))
  queue.addAfter('a', 5_000)
  queue.addAfter('a', 1_000)
  queue.addAfter('a', 3_000)
  queue.add('a')
  await clock.advance(10_000)
  assert.deepEqual(tries, [0, 1_000])
})

test('forgetting a key starts its delays anew', async () => {
  const { clock, queue } = setUp(async () => {})
  queue.addRateLimited('a')
  queue.addRateLimited('a')
  assert.equal(queue.failures('a'), 2)
  queue.forget('a')
  assert.equal(queue.failures('a'), 0)
  await clock.advance(1_000)
})

test('stopping aborts the running work, waits for it, and takes no more', async () => {
  const done: string[] = []
  const { clock, queue } = setUp(async (key, signal) => {
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    done.push(key)
    throw new Error('aborted')
  })
  queue.add('a')
  queue.add('b')
  queue.addAfter('c', 1_000)
  await settle()
  await queue.stop()
  queue.add('d')
  queue.addAfter('e', 1)
  await clock.advance(5_000)
  assert.deepEqual(done, ['a'])
  assert.equal(clock.pending(), 0)
})
