import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { silentLog } from '../ports.ts'
import { type CollectionServer, collectionServer } from '../testing/collection-server.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createClient } from './client.ts'
import { type ReflectorOptions, startReflector } from './reflector.ts'
import { type KubeNode, resources } from './types.ts'

const HOUR = 3_600_000

function setUp(more: Partial<ReflectorOptions<KubeNode>> = {}, server = collectionServer('/api/v1/nodes')) {
  const clock = createManualClock(0)
  const changes: string[] = []
  const reflector = startReflector<KubeNode>({
    client: createClient(server),
    resource: resources.nodes,
    clock,
    random: seededRandom(1),
    log: silentLog,
    onChange: (type, object) => void changes.push(`${type} ${object.metadata.name}`),
    ...more,
  })
  return { server, clock, reflector, changes }
}

const watchesOf = (server: CollectionServer) =>
  server.requests.filter(request => request.includes('watch=true'))
const names = (reflector: { list(): KubeNode[] }) => reflector.list().map(node => node.metadata.name)

test('it lists, watches from there, and reports each change once', async () => {
  const server = collectionServer('/api/v1/nodes')
  server.put('a')
  const { clock, reflector, changes } = setUp({}, server)
  assert.equal(reflector.hasSynced(), false)
  await reflector.synced
  assert.deepEqual(changes, ['ADDED a'])
  server.put('b')
  server.put('a')
  server.remove('b')
  await clock.advance(0)
  assert.deepEqual(changes, ['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b'])
  assert.equal(reflector.get('a')?.metadata.resourceVersion, '4')
  await reflector.stop()
  assert.equal(clock.pending(), 0)
  assert.equal(server.openWatches(), 0)
})

test('a broken connection is resumed from the last event, without a new list', async () => {
  const { server, clock, reflector, changes } = setUp()
  await clock.advance(0)
  server.put('a')
  await clock.advance(0)
  server.disconnect()
  server.put('b')
  await clock.advance(1_600)
  assert.deepEqual(changes, ['ADDED a', 'ADDED b'])
  assert.equal(server.requests.length - watchesOf(server).length, 1)
  assert.match(watchesOf(server)[1] ?? '', /resourceVersion=2/)
  await reflector.stop()
})

test('after a bookmark a watch resumes from the version of the bookmark', async () => {
  const { server, clock, reflector } = setUp()
  await clock.advance(0)
  server.put('a')
  server.compact()
  server.bookmark()
  await clock.advance(2_000)
  server.endWatches()
  await clock.advance(0)
  assert.match(watchesOf(server)[1] ?? '', /resourceVersion=2/)
  await reflector.stop()
})

test('an expired version lists anew and reports what was deleted meanwhile', async () => {
  const { server, clock, reflector, changes } = setUp()
  await clock.advance(0)
  for (const name of ['a', 'b', 'c']) server.put(name)
  await clock.advance(0)
  changes.length = 0
  server.disconnect()
  server.remove('a')
  server.put('b')
  server.remove('c')
  server.put('c')
  server.compact()
  await clock.advance(60_000)
  assert.deepEqual(changes, ['DELETED a', 'MODIFIED b', 'DELETED c', 'ADDED c'])
  await reflector.stop()
})

test('the server is asked to end each watch after a random 300 to 600 seconds, or after what is given', async () => {
  const { clock, reflector, server } = setUp()
  for (let n = 0; n < 20; n++) {
    await clock.advance(1_000)
    server.endWatches()
  }
  const seconds = watchesOf(server).map(request => Number(/timeoutSeconds=(\d+)/.exec(request)?.[1]))
  assert.ok(seconds.length >= 20 && seconds.every(s => s >= 300 && s < 600))
  assert.ok(new Set(seconds).size > 10)
  await reflector.stop()
  const fixed = setUp({ watchSeconds: 43_200 })
  await fixed.clock.advance(0)
  assert.match(watchesOf(fixed.server)[0] ?? '', /timeoutSeconds=43200/)
  await fixed.reflector.stop()
})

test('a watch that the server forgot to end is ended and resumed', async () => {
  const log = recordingLog()
  const { server, clock, reflector, changes } = setUp({ log })
  await clock.advance(0)
  server.freeze()
  server.put('a')
  await clock.advance(631_000)
  assert.deepEqual(changes, ['ADDED a'])
  assert.match(log.lines.join(), /went silent/)
  await reflector.stop()
})

test('where bookmarks come each minute, silence is noticed within minutes', async () => {
  const { server, clock, reflector, changes } = setUp({ watchSeconds: 43_200 })
  for (let minute = 0; minute < 3; minute++) {
    await clock.advance(60_000)
    server.bookmark()
  }
  await clock.advance(0)
  server.freeze()
  server.put('a')
  await clock.advance(180_000)
  assert.deepEqual(changes, ['ADDED a'])
  await reflector.stop()
})

test('failures wait 0.8 s doubling to 30 s, each stretched to less than double', async () => {
  const server = collectionServer('/api/v1/nodes')
  server.fault = 'unreachable'
  const log = recordingLog()
  const { clock, reflector } = setUp({ log }, server)
  await clock.advance(HOUR / 6)
  const waits = log.fields.map(fields => (fields as { waitMilliseconds: number }).waitMilliseconds)
  for (const [n, wait] of waits.entries()) {
    const least = Math.min(800 * 2 ** n, 30_000)
    assert.ok(wait >= least && wait <= 2 * least, `wait ${n}: ${wait}`)
  }
  assert.ok(waits.length > 10)
  server.fault = undefined
  await clock.advance(60_000)
  assert.ok(reflector.hasSynced())
  await reflector.stop()
})

test('a server that ends watches at once is not stormed', async () => {
  const { server, clock, reflector } = setUp()
  await clock.advance(0)
  for (let second = 0; second < 600; second++) {
    server.endWatches()
    await clock.advance(1_000)
  }
  assert.ok(server.requests.length < 600 / 15 + 30, `${server.requests.length} requests in ten minutes`)
  await reflector.stop()
})

test('what a handler throws or rejects with goes to the log and does not stop the rest', async () => {
  const log = recordingLog()
  const seen: string[] = []
  const { server, clock, reflector } = setUp({
    log,
    onChange(_, { metadata }) {
      seen.push(metadata.name)
      if (metadata.name === 'a') throw new Error('first trouble')
      if (metadata.name === 'b') return Promise.reject(new Error('second trouble'))
    },
  })
  await clock.advance(0)
  for (const name of ['a', 'b', 'c']) server.put(name)
  await clock.advance(0)
  assert.deepEqual(seen, ['a', 'b', 'c'])
  assert.deepEqual(log.lines, Array(2).fill('error: handling ADDED of Node failed'))
  assert.match(JSON.stringify(log.fields), /first trouble.*second trouble/)
  await reflector.stop()
})

test('what is new is told before the last page of what is old was read', async () => {
  const server = collectionServer('/api/v1/nodes', 2)
  for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(name)
  const told: string[] = []
  const changes = [() => server.put('z'), () => server.remove('e')]
  const { clock, reflector } = setUp({
    client: createClient(interrupted(server, changes)),
    onChange: (type, { metadata }) => void told.push(`${type} ${metadata.name} ${reflector.hasSynced()}`),
  })
  await clock.advance(0)
  await reflector.synced
  const order = ['a', 'b', 'z', 'c', 'd']
  assert.deepEqual(
    told,
    order.map(name => `ADDED ${name} false`),
  )
  assert.deepEqual(names(reflector), order)
  await reflector.stop()
  assert.equal(clock.pending(), 0)
})

test('of what is only counted the key is kept, and it is told when it comes and when it is something else', async () => {
  const server = collectionServer('/api/v1/nodes')
  server.put('a', { spec: { podCIDR: 'old' } })
  server.put('b', { spec: { podCIDR: 'new' } })
  const { clock, reflector, changes } = setUp({ tally: ({ spec }) => spec?.podCIDR }, server)
  await clock.advance(0)
  server.put('a', { spec: { podCIDR: 'old' } })
  server.put('c', { spec: { podCIDR: 'old' } })
  server.put('b')
  server.remove('c')
  await clock.advance(0)
  server.put('b', { spec: { podCIDR: 'old' } })
  await clock.advance(0)
  assert.deepEqual(changes, ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED b', 'MODIFIED b'])
  assert.deepEqual(
    [...reflector.tallied()],
    [
      ['old', 2],
      ['new', 0],
    ],
  )
  assert.deepEqual(names(reflector), [])
  server.disconnect()
  server.remove('a')
  server.compact()
  await clock.advance(60_000)
  assert.deepEqual(
    [...reflector.tallied()],
    [
      ['old', 1],
      ['new', 0],
    ],
  )
  await reflector.stop()
})

test('a projection is all that is kept', async () => {
  const server = collectionServer('/api/v1/nodes')
  server.put('a', { status: { images: ['big'] } })
  const { clock, reflector } = setUp(
    { project: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }) },
    server,
  )
  await clock.advance(0)
  server.put('b', { status: { images: ['big'] } })
  await clock.advance(0)
  assert.deepEqual(names(reflector), ['a', 'b'])
  assert.doesNotMatch(JSON.stringify(reflector.list()), /big/)
  await reflector.stop()
})

test('stopping before the first list resolves synced without claiming to be', async () => {
  const server = collectionServer('/api/v1/nodes')
  server.fault = 'unreachable'
  const { clock, reflector } = setUp({}, server)
  await clock.advance(0)
  await reflector.stop()
  await reflector.synced
  assert.equal(reflector.hasSynced(), false)
  assert.equal(clock.pending(), 0)
})

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('put' as const, 'remove' as const), name }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'bookmark' as const,
        'compact' as const,
        'endWatches' as const,
        'disconnect' as const,
        'freeze' as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ fault: fc.constantFrom('unreachable' as const, 429, 403, 500, undefined) }),
  },
  { weight: 4, arbitrary: fc.record({ wait: fc.nat(400_000) }) },
)

/** Carries a command out, as far as it is the server's. */
function perform(server: CollectionServer, step: Step): void {
  if ('fault' in step) server.fault = step.fault as CollectionServer['fault']
  else if ('name' in step) server[step.do](step.name)
  else if ('do' in step) server[step.do]()
}
type Step = typeof command extends fc.Arbitrary<infer T> ? T : never

/** The server, to which something happens just before each page of a list but the first is answered. */
function interrupted(server: CollectionServer, interruptions: (() => void)[]): CollectionServer {
  const request: CollectionServer['request'] = async asked => {
    if (asked.url.includes('continue=')) interruptions.shift()?.()
    return server.request(asked)
  }
  return { ...server, request }
}

test('after any sequence of events, disconnects, faults and compactions, also between pages, the cache equals the server', async () => {
  const sequence = fc.array(command, { maxLength: 40, size: 'max' })
  await fc.assert(
    fc.asyncProperty(sequence, sequence, fc.nat(3), fc.nat(), async (commands, steps, most, seed) => {
      const told = new Map<string, string | undefined>()
      const server = collectionServer('/api/v1/nodes', most || undefined)
      for (const name of ['a', 'b', 'c', 'd', 'e']) server.put(name)
      const between = steps.map(step => () => perform(server, step))
      const { clock, reflector } = setUp({
        client: createClient(interrupted(server, between)),
        random: seededRandom(seed),
        onChange(type, { metadata }, previous) {
          const key = `${metadata.name} ${metadata.uid}`
          assert.equal(told.has(key), type !== 'ADDED')
          if (type === 'MODIFIED') assert.equal(previous?.metadata.resourceVersion, told.get(key))
          if (type === 'DELETED') told.delete(key)
          else told.set(key, metadata.resourceVersion)
        },
        log: { ...silentLog, error: message => assert.fail(message) },
      })
      for (const step of commands) {
        if ('wait' in step) await clock.advance(step.wait)
        else perform(server, step)
      }
      between.length = 0
      server.fault = undefined
      await clock.advance(HOUR / 4)
      const byName = (a: { metadata: { name: string } }, b: typeof a) =>
        a.metadata.name < b.metadata.name ? -1 : 1
      const expected = server.objects().sort(byName)
      assert.deepEqual(reflector.list().sort(byName), expected)
      assert.deepEqual(
        [...told].sort(),
        expected.map(({ metadata: { name, uid, resourceVersion } }) => [`${name} ${uid}`, resourceVersion]),
      )
      await reflector.stop()
      assert.equal(clock.pending(), 0)
    }),
    { numRuns: 150 },
  )
})
