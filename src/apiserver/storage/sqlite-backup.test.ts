import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { systemDisk } from '../../host/disk.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { backupDatabase, restoreDatabase } from './sqlite-backup.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { CompactedError, type Store } from './store.ts'

async function folder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-backup-'))
  t.after(() => rm(directory, { recursive: true }))
  return (name: string) => join(directory, name)
}

const open = (path: string, log = recordingLog()) =>
  openSqliteStore({ path, clock: createManualClock(1_000_000), disk: systemDisk, log })

const put = (store: Store, key: string, value: string) =>
  store.write({ key, expect: store.get(key)?.modRevision ?? 0, value: Buffer.from(value) })

const contents = (store: Store) =>
  store.list('').items.map(({ key, value }) => [key, Buffer.from(value).toString()])

describe('a backup', () => {
  it('holds what was written when it was taken, while the store goes on', async t => {
    const at = await folder(t)
    const store = await open(at('state.db'))
    await put(store, 'a', 'one')
    const writing = Array.from({ length: 50 }, (_, index) => put(store, `k${index}`, 'x'))
    assert.deepEqual(backupDatabase(at('state.db'), at('copy')), { revision: 2, objects: 1 })
    await Promise.all(writing)
    await put(store, 'a', 'two')
    await store.close()
    assert.equal(statSync(at('copy')).mode & 0o777, 0o600)

    const { objects } = restoreDatabase(at('copy'), at('state.db'))
    assert.equal(objects, 1)
    const restored = await open(at('state.db'))
    assert.deepEqual(contents(restored), [['a', 'one']])
    await restored.close()
    // What was replaced is still there.
    const replaced = await open(at('state.db.replaced'))
    assert.equal(replaced.list('').items.length, 51)
    await replaced.close()
  })

  it('has clients that have seen later revisions list again', async t => {
    const at = await folder(t)
    const store = await open(at('state.db'))
    await put(store, 'a', 'one')
    backupDatabase(at('state.db'), at('copy'))
    for (let i = 0; i < 20; i++) await put(store, 'a', `later ${i}`)
    const seen = store.revision
    await store.close()
    restoreDatabase(at('copy'), at('state.db'))
    const restored = await open(at('state.db'))
    assert.throws(() => restored.watch('', seen, () => {}), CompactedError)
    await restored.close()
  })

  it('is restored into an empty folder', async t => {
    const at = await folder(t)
    const store = await open(at('state.db'))
    await put(store, 'a', 'one')
    backupDatabase(at('state.db'), at('copy'))
    await store.close()
    restoreDatabase(at('copy'), at('elsewhere.db'))
    const restored = await open(at('elsewhere.db'))
    assert.deepEqual(contents(restored), [['a', 'one']])
    assert.equal(statSync(at('elsewhere.db')).mode & 0o777, 0o600)
    await restored.close()
  })

  it('replaces a database that is damaged beyond reading', async t => {
    const at = await folder(t)
    const store = await open(at('state.db'))
    await put(store, 'a', 'one')
    backupDatabase(at('state.db'), at('copy'))
    await store.close()
    writeFileSync(at('state.db'), 'no database at all '.repeat(100))
    restoreDatabase(at('copy'), at('state.db'))
    const restored = await open(at('state.db'))
    assert.deepEqual(contents(restored), [['a', 'one']])
    await restored.close()
  })

  it('is refused where it would overwrite, or a server runs, or it is not whole', async t => {
    const at = await folder(t)
    const store = await open(at('state.db'))
    for (let i = 0; i < 100; i++) await put(store, `k${i}`, 'x'.repeat(1000))
    backupDatabase(at('state.db'), at('copy'))
    assert.throws(() => backupDatabase(at('state.db'), at('copy')), { code: 'STORAGE_FAILED' })
    assert.throws(() => backupDatabase(at('none.db'), at('new')), { code: 'STORAGE_FAILED' })
    assert.throws(() => restoreDatabase(at('copy'), at('state.db')), { code: 'DIRECTORY_IN_USE' })
    await store.close()
    const before = readFileSync(at('state.db'))
    truncateSync(at('copy'), 20_000)
    assert.throws(() => restoreDatabase(at('copy'), at('state.db')), { message: /the backup is damaged/ })
    writeFileSync(at('other'), 'something else')
    assert.throws(() => restoreDatabase(at('other'), at('state.db')), { code: 'STORAGE_FAILED' })
    assert.ok(before.equals(readFileSync(at('state.db'))))
    assert.equal(existsSync(at('state.db.restoring')), false)
  })
})

/** The files of a store whose process was killed after `writes` writes. */
async function killed(t: TestContext, writes: number) {
  const at = await folder(t)
  const store = await open(at('live.db'))
  for (let i = 0; i < writes; i++) await put(store, `k${i}`, `${i} `.repeat(300))
  for (const suffix of ['', '-wal']) copyFileSync(at(`live.db${suffix}`), at(`state.db${suffix}`))
  await store.close()
  return at
}

describe('a torn disk', () => {
  it('cut off within the log: what is whole before the cut is there, in one sentence the rest is reported', async t => {
    const at = await killed(t, 30)
    const size = statSync(at('state.db-wal')).size
    truncateSync(at('state.db-wal'), size - 5000)
    const log = recordingLog()
    const store = await open(at('state.db'), log)
    const kept = store.list('').items.length
    assert.ok(kept > 20 && kept < 30, String(kept))
    for (const { key, value } of store.list('').items)
      assert.equal(Buffer.from(value).toString(), `${key.slice(1)} `.repeat(300))
    const reports = log.lines.filter(line => line.includes('ended within a transaction'))
    assert.equal(reports.length, 1, log.lines.join('\n'))
    await put(store, 'after', 'x')
    await store.close()
    const again = recordingLog()
    await (await open(at('state.db'), again)).close()
    assert.deepEqual(again.lines, [])
  })

  it('says nothing of a log that is whole, also when it is in its second turn', async t => {
    const at = await killed(t, 30)
    const log = recordingLog()
    const store = await open(at('state.db'), log)
    assert.equal(store.list('').items.length, 30)
    await store.close()
    // Long enough that the log begins again from its start, with the old frames behind.
    const long = await killed(t, 1500)
    const second = await open(long('state.db'), log)
    assert.equal(second.list('').items.length, 1500)
    await second.close()
    assert.deepEqual(log.lines, [])
  })

  it('cut off within the database: refused in one sentence that names the way out, and left as it is', async t => {
    const at = await folder(t)
    const first = await open(at('state.db'))
    for (let i = 0; i < 200; i++) await put(first, `k${i}`, 'x'.repeat(1000))
    await first.close()
    truncateSync(at('state.db'), 40_960)
    const before = readFileSync(at('state.db'))
    await assert.rejects(open(at('state.db')), {
      code: 'STORAGE_FAILED',
      message: /the database is damaged: the file ends after 40960 of \d+ bytes; .*rollcall server restore/,
    })
    assert.ok(before.equals(readFileSync(at('state.db'))))
  })

  it('damaged in the middle: refused after a kill', async t => {
    const at = await killed(t, 1500)
    const bytes = readFileSync(at('state.db'))
    bytes.fill(0xff, 8192)
    writeFileSync(at('state.db'), bytes)
    await assert.rejects(open(at('state.db')), { code: 'STORAGE_FAILED', message: /rollcall server restore/ })
  })
})
