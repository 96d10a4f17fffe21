import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemDisk } from '../../host/disk.ts'
import { silentLog } from '../../ports.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
import { CompactedError } from './store.ts'

async function freshPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-sqlite-'))
  t.after(() => rm(directory, { recursive: true }))
  return join(directory, 'state.db')
}

const open = (path: string, more: Partial<SqliteStoreOptions> = {}) =>
  openSqliteStore({ path, clock: createManualClock(1_000_000), disk: systemDisk, log: silentLog, ...more })

const big = new Uint8Array(20_000)

describe('a store on SQLite', () => {
  it('is as it was after it was closed and opened again', async t => {
    const path = await freshPath(t)
    const first = await open(path)
    await first.write({ key: 'a', expect: 0, value: Buffer.from('x') })
    await first.write({ key: 'a', expect: 2, value: Buffer.from('y') })
    await first.write({ key: 'b', expect: 0, value: Buffer.from('z') })
    await first.write({ key: 'b', expect: 4, value: null })
    await first.close()
    const second = await open(path)
    // The revision of a deletion counts too: a client that has seen it must never see it again.
    assert.equal(second.revision, 5)
    const { value, ...entry } = second.get('a')!
    assert.deepEqual([Buffer.from(value).toString(), entry.createRevision, entry.modRevision], ['y', 2, 3])
    assert.equal(second.get('b'), undefined)
    // A watch that is up to date resumes; older history is gone.
    second.watch('', 5, () => {})()
    assert.throws(() => second.watch('', 4, () => {}), CompactedError)
    await second.close()
  })

  it('still expires what was written before it was opened again', async t => {
    const path = await freshPath(t)
    const first = await open(path)
    await first.write({ key: 'event', expect: 0, value: big, expiresAt: 1_060_000 })
    await first.close()
    const clock = createManualClock(1_000_000)
    const second = await open(path, { clock })
    const gone = new Promise<void>(resolve => second.watch('event', second.revision, () => resolve()))
    await clock.advance(60_000)
    await gone
    assert.equal(second.get('event'), undefined)
    await second.close()
  })

  it('can be read by its owner only', async t => {
    const path = await freshPath(t)
    const store = await open(path)
    await store.write({ key: 'a', expect: 0, value: big })
    for (const file of [path, `${path}-wal`]) assert.equal((await stat(file)).mode & 0o777, 0o600)
    await store.close()
  })

  it('cannot be opened twice', async t => {
    const path = await freshPath(t)
    const store = await open(path)
    await assert.rejects(open(path), { code: 'DIRECTORY_IN_USE' })
    await store.close()
  })

  it('says that it cannot be opened where there is no folder', async t => {
    const path = join(await freshPath(t), 'no', 'folder')
    await assert.rejects(open(path), { code: 'STORAGE_FAILED' })
  })

  it('says that it cannot be opened when the file is no database', async t => {
    const path = await freshPath(t)
    await systemDisk.write(path, 'these bytes are not a database, by any measure '.repeat(50), {
      mode: 0o600,
    })
    await assert.rejects(open(path), { code: 'STORAGE_FAILED', message: /file is not a database/ })
  })

  it('refuses what the disk cannot take, shows nothing of it, and lives on', async t => {
    const path = await freshPath(t)
    const store = await open(path, { maximumBytes: 200_000 })
    const seen: string[] = []
    store.watch('', 1, event => seen.push(event.key))
    let stored = 0
    const failure = await (async () => {
      for (;;) {
        try {
          await store.write({ key: `k${stored}`, expect: 0, value: big })
          stored++
        } catch (error) {
          return error
        }
      }
    })()
    assert.equal((failure as { code?: string }).code, 'STORAGE_FAILED')
    assert.ok(stored > 2)
    assert.deepEqual([store.revision, seen.length, store.get(`k${stored}`)], [stored + 1, stored, undefined])
    await store.write({ key: 'k0', expect: 2, value: null })
    await store.write({ key: 'again', expect: 0, value: big })
    await store.close()
    const reopened = await open(path)
    assert.equal(reopened.revision, stored + 3)
    assert.equal(reopened.list('').items.length, stored)
    await reopened.close()
  })

  it('has every acknowledged write after its process was killed', { timeout: 60_000 }, async t => {
    const path = await freshPath(t)
    const script = fileURLToPath(new URL('./testing/write-loop.ts', import.meta.url))
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    const acknowledged: string[] = []
    for await (const line of createInterface(child.stdout)) {
      acknowledged.push(line)
      if (acknowledged.length === 500) child.kill('SIGKILL')
    }
    assert.deepEqual(await exited, [null, 'SIGKILL'])
    const store = await open(path)
    for (const line of acknowledged) {
      const [key = '', revision] = line.split(' ')
      const entry = store.get(key)
      assert.equal(String(entry?.modRevision), revision, key)
      assert.equal(Buffer.from(entry?.value ?? []).toString(), key.repeat(20))
    }
    assert.ok(store.revision >= acknowledged.length + 1)
    await store.close()
  })
})
