import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { systemDisk } from '../../host/disk.ts'
import { silentLog } from '../../ports.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import type { HistoryLimits } from './history.ts'
import { createMemoryStore } from './memory-store.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { CompactedError, type Store, type StoreEvent } from './store.ts'
import { defaultWarmBytes } from './warm-values.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined) => value && new TextDecoder().decode(value)
const shown = (event: StoreEvent) =>
  `${event.revision} ${event.key}: ${text(event.previous?.value) ?? '-'} > ${text(event.current?.value) ?? '-'}`

interface Engine {
  name: string
  open(t: TestContext | undefined, clock: ManualClock, history?: HistoryLimits): Promise<Store>
}

/** `warmBytes` 0: every value comes from the disk. */
const sqlite = (name: string, warmBytes: number): Engine => ({
  name,
  async open(t, clock, history) {
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-store-'))
    const store = await openSqliteStore({
      path: join(directory, 'state.db'),
      clock,
      disk: systemDisk,
      log: silentLog,
      warmBytes,
      ...(history && { history }),
    })
    t?.after(async () => {
      await store.close()
      await rm(directory, { recursive: true })
    })
    return store
  },
})

const engines: Engine[] = [
  {
    name: 'memory',
    open: async (_t, clock, history) => createMemoryStore({ clock, ...(history && { history }) }),
  },
  sqlite('sqlite', defaultWarmBytes),
  sqlite('sqlite that keeps no value in memory', 0),
]

const put = (store: Store, key: string, value: string, expect = store.get(key)?.modRevision ?? 0) =>
  store.write({ key, expect, value: bytes(value) })

for (const engine of engines) {
  describe(`a store in ${engine.name}`, () => {
    it('starts at revision 1 and counts one for each write', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      assert.equal(store.revision, 1)
      assert.deepEqual(await put(store, 'a/1', 'x'), { ok: true, revision: 2 })
      assert.deepEqual(await put(store, 'a/2', 'y'), { ok: true, revision: 3 })
      assert.equal(store.revision, 3)
      const stored = store.get('a/1')
      assert.deepEqual([text(stored?.value), stored?.createRevision, stored?.modRevision], ['x', 2, 2])
    })

    it('refuses a write whose expectation does not hold and tells the current entry', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      await put(store, 'a', 'x')
      const outcome = await store.write({ key: 'a', expect: 0, value: bytes('y') })
      assert.equal(outcome.ok, false)
      assert.equal(text(outcome.ok ? undefined : outcome.current?.value), 'x')
      assert.deepEqual(await store.write({ key: 'b', expect: 0, value: null }), {
        ok: false,
        current: undefined,
      })
      assert.equal(store.revision, 2)
    })

    it('lets exactly one of many writers with the same expectation win', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => put(store, 'a', `${n}`, 0)))
      assert.deepEqual(
        outcomes.map(outcome => outcome.ok),
        outcomes.map((_, n) => n === 0),
      )
      assert.equal(text(store.get('a')?.value), '0')
    })

    it('lists a prefix in pages of one revision while others write', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      for (const name of ['a/1', 'a/2', 'a/3', 'b/1']) await put(store, name, name)
      const first = store.list('a/', { limit: 2 })
      assert.deepEqual([first.items.map(item => item.key), first.remaining], [['a/1', 'a/2'], 1])
      await put(store, 'a/25', 'new')
      await put(store, 'a/3', 'changed')
      await store.write({ key: 'a/2', expect: store.get('a/2')!.modRevision, value: null })
      const rest = store.list('a/', { after: 'a/1', limit: 2, revision: first.revision })
      assert.deepEqual(
        rest.items.map(item => text(item.value)),
        ['a/2', 'a/3'],
      )
      assert.deepEqual(
        store.list('a/').items.map(item => text(item.value)),
        ['a/1', 'new', 'changed'],
      )
    })

    it('replays the past to a watch and goes on with what comes', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      await put(store, 'a/1', 'x')
      await put(store, 'b/1', 'other')
      await put(store, 'a/1', 'y')
      const seen: string[] = []
      const stop = store.watch('a/', 2, event => seen.push(shown(event)))
      await store.write({ key: 'a/1', expect: 4, value: null })
      stop()
      await put(store, 'a/2', 'unseen')
      assert.deepEqual(seen, ['4 a/1: x > y', '5 a/1: y > -'])
    })

    it('shows every watch the same order when a listener writes', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      let nested: Promise<unknown> | undefined
      store.watch('a/', 1, event => {
        if (event.key === 'a/1') nested = put(store, 'a/2', 'from the listener')
      })
      const seen: number[] = []
      store.watch('a/', 1, event => seen.push(event.revision))
      await put(store, 'a/1', 'x')
      await nested
      assert.deepEqual(seen, [2, 3])
    })

    it('answers CompactedError for revisions that it has forgotten', async t => {
      const store = await engine.open(t, createManualClock(1_000_000), { events: 3, bytes: 1 << 20 })
      for (let n = 0; n < 6; n++) await put(store, 'a', `${n}`)
      assert.throws(() => store.watch('a', 3, () => {}), CompactedError)
      assert.throws(() => store.list('a', { revision: 3 }), CompactedError)
      assert.equal(text(store.list('a', { revision: 4 }).items[0]?.value), '2')
      store.compact(6)
      assert.throws(() => store.list('a', { revision: 5 }), CompactedError)
    })

    it('deletes an entry when its time has come, unless it was written again', async t => {
      const clock = createManualClock(1_000_000)
      const store = await engine.open(t, clock)
      const deleted = new Promise<StoreEvent>(resolve =>
        store.watch('event/1', 1, event => !event.current && resolve(event)),
      )
      const expiresAt = clock.now() + 60_000
      for (const key of ['event/1', 'event/2'])
        await store.write({ key, expect: 0, value: bytes('e'), expiresAt })
      await put(store, 'event/2', 'kept')
      await clock.advance(59_999)
      assert.equal(store.list('event/').items.length, 2)
      await clock.advance(1)
      await deleted
      assert.deepEqual(
        store.list('event/').items.map(item => item.key),
        ['event/2'],
      )
    })

    it('refuses writes after it was closed', async t => {
      const store = await engine.open(t, createManualClock(1_000_000))
      const last = put(store, 'a', 'x')
      await store.close()
      assert.equal((await last).ok, true)
      await assert.rejects(put(store, 'b', 'x'), { code: 'STORAGE_FAILED' })
    })
  })
}

interface Step {
  key: string
  value: string | null
  stale: boolean
}

/** What a store must be after the steps, told the simplest way: every state as a copy. */
function model(steps: readonly Step[]) {
  const versions = new Map<string, number>()
  const states: Map<string, string>[] = [new Map(), new Map()]
  const events: string[] = []
  const writes = steps.map(({ key, value, stale }) => {
    const now = states.at(-1) ?? new Map<string, string>()
    const expect = stale ? 99_999 : (versions.get(key) ?? 0)
    const holds = !stale && (value !== null || now.has(key))
    if (holds) {
      events.push(`${states.length} ${key}: ${now.get(key) ?? '-'} > ${value ?? '-'}`)
      const next = new Map(now)
      if (value === null) {
        next.delete(key)
        versions.delete(key)
      } else {
        next.set(key, value)
        versions.set(key, states.length)
      }
      states.push(next)
    }
    return { key, expect, value: value === null ? null : bytes(value), holds }
  })
  return { writes, states, events }
}

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom('a', 'a/1', 'a/2', 'a0', 'b/1', 'b/2'),
  value: fc.option(fc.string({ maxLength: 3 })),
  stale: fc.boolean(),
})

for (const [engine, numRuns] of [
  [engines[0]!, 200],
  [engines[1]!, 10],
] as const) {
  describe(`any sequence of writes to a store in ${engine.name}`, () => {
    it('gives the results, states, pages and events of a naive model', async t => {
      const property = fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.nat(),
        fc.integer({ min: 1, max: 5 }),
        async (steps, seed, limit) => {
          const store = await engine.open(t, createManualClock(1_000_000))
          const { writes, states, events } = model(steps)
          const live: string[] = []
          store.watch('', 1, event => live.push(shown(event)))
          // Not one after the other: SQLite's batches must judge each by those before it.
          const results = await Promise.all(writes.map(({ holds: _, ...write }) => store.write(write)))
          assert.deepEqual(
            results.map(result => result.ok),
            writes.map(write => write.holds),
          )
          assert.deepEqual(live, events)
          const revision = 1 + (seed % (states.length - 1))
          const expected = [...(states[revision] ?? [])].filter(([key]) => key.startsWith('a')).sort()
          const listed: [string, string | undefined][] = []
          for (let more = true; more; ) {
            const after = listed.at(-1)?.[0]
            const page = store.list('a', { ...(after && { after }), limit, revision })
            for (const item of page.items) listed.push([item.key, text(item.value)])
            assert.equal(page.remaining, expected.length - listed.length)
            more = page.remaining > 0
          }
          assert.deepEqual(listed, expected)
          const replayed: string[] = []
          store.watch('', revision, event => replayed.push(shown(event)))
          assert.deepEqual(replayed, events.slice(revision - 1))
        },
      )
      await fc.assert(property, { numRuns })
    })
  })
}

describe('a store of many keys', () => {
  it('keeps them in order whatever the order of writing and deleting', async () => {
    const store = createMemoryStore({ clock: createManualClock(1_000_000) })
    const names = Array.from({ length: 5000 }, (_, n) => `k/${(n * 7919) % 5000}`)
    await Promise.all(names.map(key => put(store, key, key)))
    await Promise.all(
      names
        .filter((_, n) => n % 3 === 0)
        .map(key => store.write({ key, expect: store.get(key)!.modRevision, value: null })),
    )
    const left = names.filter((_, n) => n % 3 !== 0).sort()
    assert.deepEqual(
      store.list('k/').items.map(item => item.key),
      left,
    )
    const page = store.list('k/', { after: left[1233]!, limit: 10 })
    assert.deepEqual([page.items[0]?.key, page.remaining], [left[1234], left.length - 1244])
  })
})
