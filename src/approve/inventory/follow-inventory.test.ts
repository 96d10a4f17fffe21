import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../kube/client.ts'
import { collectionServer } from '../../testing/collection-server.ts'
import { ip } from '../../testing/judged-request.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { followInventory } from './follow-inventory.ts'

const path = '/etc/inventory.yaml'

function followFile(files: Map<string, string>) {
  const clock = createManualClock(0)
  const log = recordingLog()
  let changes = 0
  const followed = followInventory({
    location: { file: path },
    client: createClient(collectionServer('/api/v1/secrets')),
    clock,
    random: seededRandom(1),
    log,
    disk: {
      async read(file) {
        const text = files.get(file)
        if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
        return new TextEncoder().encode(text)
      },
    },
    onChange: () => void changes++,
  })
  const evidence = () => {
    const san = { kind: 'IP', shown: '', canonical: '10.0.0.1', bytes: ip('10.0.0.1') } as const
    const answer = followed.inventory.evidence('a', [san])
    return 'proven' in answer ? [...answer.proven.keys()] : answer
  }
  return { clock, log, followed, evidence, changes: () => changes }
}

test('a file is read again, and what is not there is an error, never an empty list', async () => {
  const files = new Map<string, string>()
  const { clock, log, followed, evidence, changes } = followFile(files)
  assert.deepEqual(evidence(), { error: 'was not read yet' })
  await followed.settled
  assert.deepEqual(evidence(), { error: 'cannot be read (ENOENT)' })
  files.set(path, 'nodes: { a: { addresses: [10.0.0.1] } }')
  await clock.advance(10_000)
  assert.deepEqual(evidence(), ['10.0.0.1'])
  await clock.advance(50_000)
  assert.equal(changes(), 2)
  files.set(path, 'nodes: { a: { addresses: 10.0.0.1 } }')
  await clock.advance(11_000)
  assert.deepEqual(evidence(), ['10.0.0.1'], 'the last good content')
  files.delete(path)
  await clock.advance(60_000)
  assert.deepEqual(evidence(), { error: 'cannot be read (ENOENT)' })
  assert.deepEqual(log.lines, [
    `warn: inventory ${path} cannot be read (ENOENT); serving requests wait`,
    `warn: inventory ${path} is malformed, its last good content goes on to count`,
    `warn: inventory ${path} cannot be read (ENOENT); serving requests wait`,
  ])
  await followed.stop()
  assert.equal(clock.pending(), 0)
})

test('an inventory that was malformed from the start counts for nothing until it is right', async () => {
  const files = new Map([[path, 'nodes: []']])
  const { clock, followed, evidence } = followFile(files)
  await followed.settled
  assert.deepEqual(evidence(), { error: `is malformed: ${path}: nodes: must have fields` })
  files.set(path, 'nodes: {}')
  await clock.advance(11_000)
  assert.deepEqual(evidence(), [])
  await followed.stop()
})
