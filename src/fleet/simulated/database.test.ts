import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { Database } from './database.ts'
import { EventDigest } from './digest.ts'
import { Machine } from './machine.ts'
import { SeededRandom } from './random.ts'
import { VirtualTime } from './virtual-time.ts'

const bytes = (value: string) => new TextEncoder().encode(value)

function createWorld(seed: string) {
  const time = new VirtualTime(0)
  const machine = new Machine('server', { time, digest: new EventDigest() }, new SeededRandom(seed))
  return { time, machine, database: new Database() }
}

test('acknowledged writes outlive a crash; one under way is there or not, but never seen before it was durable', async () => {
  const seen = new Set<string>()
  for (let seed = 0; seed < 40; seed += 1) {
    const { time, machine, database } = createWorld(String(seed))
    const store = database.open(machine.start())
    const acknowledged = store.write({ key: 'a', expect: 0, value: bytes('1') })
    await time.runFor(100)
    assert.deepEqual(await acknowledged, { ok: true, revision: 2 })
    void store.write({ key: 'b', expect: 0, value: bytes('2') })
    await time.runFor(0)
    assert.equal(store.get('b'), undefined)
    machine.kill()
    const next = database.open(machine.start())
    assert.equal(next.get('a')?.modRevision, 2)
    assert.equal(next.revision, next.get('b') ? 3 : 2)
    seen.add(next.get('b') ? 'kept' : 'lost')
  }
  assert.deepEqual(seen, new Set(['kept', 'lost']))
})

test('writes in one group are judged one after the other', async () => {
  const { time, machine, database } = createWorld('group')
  const store = database.open(machine.start())
  const results = Promise.all(
    ['x', 'y', 'z'].map(value => store.write({ key: 'a', expect: 0, value: bytes(value) })),
  )
  await time.runFor(100)
  assert.deepEqual(
    (await results).map(result => result.ok),
    [true, false, false],
  )
})

test('a full disk refuses the write, and nobody sees it', async () => {
  const { time, machine, database } = createWorld('full')
  const store = database.open(machine.start())
  database.full = true
  let refused = false
  store.write({ key: 'a', expect: 0, value: bytes('1') }).catch(error => {
    refused = hasCode(error, 'STORAGE_FAILED')
  })
  await time.runFor(100)
  assert.equal(refused, true)
  assert.equal(store.get('a'), undefined)
  assert.equal(store.revision, 1)
})
