import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../kube/client.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { collectionServer } from '../../testing/collection-server.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { followWhereReadable } from './follow-where-readable.ts'

function follow() {
  const server = collectionServer('/api/v1/nodes')
  const clock = createManualClock(0)
  const log = recordingLog()
  const seen: string[] = []
  const start = () =>
    followWhereReadable<KubeNode>({
      client: createClient(server),
      resource: resources.nodes,
      clock,
      random: seededRandom(1),
      log,
      onChange: (type, object) => void seen.push(`${type} ${object.metadata.name}`),
    })
  return { server, clock, log, seen, start }
}

test('what may not be read for a minute is told once and settled; from the moment it may it is followed', async () => {
  const { server, clock, log, seen, start } = follow()
  server.put('a')
  server.fault = 403
  const following = start()
  let settled = false
  void following.settled.then(() => {
    settled = true
  })
  await clock.advance(50_000)
  // Roles may be bound a moment after the program was started: until then nothing is judged without what it may not see.
  assert.deepEqual([settled, log.lines], [false, []])
  await clock.advance(1_750_000)
  assert.equal(settled, true)
  assert.deepEqual(log.lines, ['info: nodes cannot be read, so what they say is not known'])
  server.fault = undefined
  await clock.advance(600_000)
  server.put('b')
  await settle()
  assert.deepEqual(seen, ['ADDED a', 'ADDED b'])
  await following.stop()
  assert.deepEqual([clock.pending(), server.openWatches()], [0, 0])
})

test('while the server does not answer nothing is settled', async () => {
  const { server, clock, seen, start } = follow()
  server.put('a')
  server.fault = 'unreachable'
  const following = start()
  let settled = false
  void following.settled.then(() => {
    settled = true
  })
  await clock.advance(600_000)
  assert.equal(settled, false)
  server.fault = undefined
  await clock.advance(120_000)
  assert.deepEqual([settled, seen], [true, ['ADDED a']])
  await following.stop()
  assert.equal(clock.pending(), 0)
})
