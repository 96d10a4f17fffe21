import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { systemDisk } from '../host/disk.ts'
import { clientTemplate } from '../join/template.ts'
import type { Secret } from '../keys/secret.ts'
import { type Disk, silentLog } from '../ports.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { createCertificateStore } from './certificate-store.ts'

const start = Date.parse('2026-05-01T10:20:30Z')
const hour = 3_600_000
const directory = '/var/lib/kubelet/pki'
const prefix = 'kubelet-client'
const authority = await createTestAuthority(new SeededRandom('store'))
const pairs = await Promise.all(
  [0, 1, 2, 3].map(index => {
    const lifetime = { notBefore: start + index * hour, notAfter: start + (index + 24) * hour }
    return authority.issue(clientTemplate('node-a', 'Ed25519'), lifetime)
  }),
)

function pair(index: number): { chain: string; key: Secret } {
  return pairs[index] as { chain: string; key: Secret }
}

function machine(seed = 'disk') {
  const clock = createManualClock(start)
  const machineDisk = new MachineDisk(new SeededRandom(seed), clock)
  const disk = asynchronousDisk(machineDisk, async call => call())
  const log = recordingLog()
  const store = createCertificateStore({ disk, clock, log, directory, prefix })
  return { clock, machineDisk, disk, log, store }
}

const names = (disk: Disk) => disk.list(directory)
const text = async (disk: Disk, name: string) =>
  new TextDecoder().decode(await disk.read(`${directory}/${name}`))

test('an empty or missing folder holds no pair', async () => {
  assert.equal(await machine().store.load(), undefined)
})

test('K-12: the pair lies in a file with the time in its name, certificates first, 0600, and current shows it', async () => {
  const { disk, store } = machine()
  const { path } = await store.update(pair(0).chain, pair(0).key)
  assert.equal(path, `${directory}/kubelet-client-2026-05-01-10-20-30.pem`)
  assert.equal(await text(disk, 'kubelet-client-current.pem'), pair(0).chain + pair(0).key.reveal())
  assert.equal((await disk.stat(path)).mode, 0o600)
  assert.equal((await disk.stat(store.currentPath)).kind, 'symlink')
  assert.deepEqual(await names(disk), [
    'kubelet-client-2026-05-01-10-20-30.pem',
    'kubelet-client-current.pem',
  ])
})

test('K-14: report 95: two updates in one second make two files, and the last two pairs are kept', async () => {
  const { disk, store } = machine()
  for (const index of [0, 1, 2, 3]) await store.update(pair(index).chain, pair(index).key)
  assert.equal((await store.load())?.chain, pair(3).chain)
  const files = (await names(disk)).filter(name => name !== 'kubelet-client-current.pem')
  assert.equal(files.length, 2)
  const kept = await Promise.all(files.map(name => text(disk, name)))
  assert.ok(kept.some(content => content.startsWith(pair(2).chain)))
})

test('a pair that does not belong together is refused and the old one stays', async () => {
  const { store } = machine()
  await store.update(pair(0).chain, pair(0).key)
  await assert.rejects(store.update(pair(1).chain, pair(2).key), error => hasCode(error, 'KEY_MISMATCH'))
  assert.equal((await store.load())?.chain, pair(0).chain)
})

test('K-11: report 17: a broken current pair gives way to the newest usable earlier one, also for those who read the link', async () => {
  const { disk, clock, store, log } = machine()
  for (const index of [0, 1]) {
    await clock.advance(hour)
    await store.update(pair(index).chain, pair(index).key)
  }
  const current = `${directory}/${await disk.readlink(store.currentPath)}`
  await disk.write(current, 'torn', { mode: 0o600 })
  assert.equal((await store.load())?.chain, pair(0).chain)
  assert.equal(await text(disk, 'kubelet-client-current.pem'), pair(0).chain + pair(0).key.reveal())
  assert.ok(log.lines.some(line => line.includes('newest usable earlier one')))
  assert.ok(!JSON.stringify([log.lines, log.fields]).includes('PRIVATE KEY'))
})

test('a missing current, as the kubelet leaves it for a moment, is repaired', async () => {
  const { disk, store } = machine()
  const { path } = await store.update(pair(0).chain, pair(0).key)
  await disk.rename(store.currentPath, `${directory}/kubelet-client-updated.pem`)
  assert.equal((await store.load())?.path, path)
  assert.equal((await disk.stat(store.currentPath)).kind, 'symlink')
})

test('report 19: a current that is a regular file with a pair (a copied folder) is taken over', async () => {
  const { disk, store } = machine()
  await disk.makeDirectory(directory, 0o755)
  await disk.write(store.currentPath, pair(0).chain + pair(0).key.reveal(), { mode: 0o600 })
  assert.equal((await store.load())?.chain, pair(0).chain)
  assert.equal((await disk.stat(store.currentPath)).kind, 'symlink')
})

test('K-13: a current with an absolute target, as the kubelet makes it, is followed', async () => {
  const { disk, store } = machine()
  const { path } = await store.update(pair(0).chain, pair(0).key)
  await disk.remove(store.currentPath)
  await disk.symlink(path, store.currentPath)
  assert.equal((await store.load())?.path, path)
  assert.equal((await names(disk)).length, 2)
})

test('a full or read-only disk refuses the update and keeps the old pair', async () => {
  for (const fault of ['full', 'readOnly'] as const) {
    const { machineDisk, store, disk } = machine(fault)
    await store.update(pair(0).chain, pair(0).key)
    machineDisk.faults[fault] = true
    for (let attempt = 0; attempt < 5; attempt++) {
      await assert.rejects(store.update(pair(1).chain, pair(1).key), /ENOSPC|EROFS/)
      assert.equal((await names(disk)).length, 2, 'retries leave no cut-off files behind')
    }
    assert.equal((await store.load())?.chain, pair(0).chain)
    machineDisk.faults[fault] = false
    await store.update(pair(1).chain, pair(1).key)
    assert.equal((await store.load())?.chain, pair(1).chain)
    assert.equal((await names(disk)).length, 3, 'no leftover of the failed update')
  }
})

test('after a crash at any operation and loss of unsynced data there is a usable pair if there was one before', async () => {
  const crash = new Error('power cut')
  await fc.assert(
    fc.asyncProperty(fc.nat(40), fc.string(), fc.integer({ min: 1, max: 3 }), async (at, seed, updates) => {
      const clock = createManualClock(start)
      const machineDisk = new MachineDisk(new SeededRandom(seed), clock)
      const calm = asynchronousDisk(machineDisk, async call => call())
      const settled = createCertificateStore({ disk: calm, clock, log: silentLog, directory, prefix })
      await settled.update(pair(0).chain, pair(0).key)

      let operations = 0
      const failing = asynchronousDisk(machineDisk, async call => {
        if (operations++ >= at) throw crash
        return call()
      })
      const store = createCertificateStore({ disk: failing, clock, log: silentLog, directory, prefix })
      let promised = 0
      try {
        for (let index = 1; index <= updates; index++) {
          await store.update(pair(index).chain, pair(index).key)
          promised = index
        }
      } catch (error) {
        assert.equal(error, crash)
      }
      machineDisk.crash()

      const after = await settled.load()
      const found = pairs.findIndex(({ chain }) => chain === after?.chain)
      assert.ok(found === promised || found === promised + 1, `promised ${promised}, found ${found}`)
      // What others see through the link is that pair too, and the next update works and leaves nothing lying about.
      assert.ok((await text(calm, 'kubelet-client-current.pem')).startsWith(pair(found).chain))
      await settled.update(pair(3).chain, pair(3).key)
      assert.equal((await settled.load())?.chain, pair(3).chain)
      assert.ok((await names(calm)).length <= 3)
    }),
    { numRuns: 300 },
  )
})

test('on a real disk the link is switched and old pairs are removed', async () => {
  const root = await mkdtemp(join(tmpdir(), 'store-'))
  try {
    const clock = createManualClock(start)
    const options = { disk: systemDisk, clock, log: silentLog, directory: join(root, 'pki'), prefix }
    for (const index of [0, 1, 2]) {
      await createCertificateStore(options).update(pair(index).chain, pair(index).key)
    }
    assert.equal((await createCertificateStore(options).load())?.chain, pair(2).chain)
    assert.equal((await systemDisk.list(join(root, 'pki'))).length, 3)
  } finally {
    await rm(root, { recursive: true })
  }
})
