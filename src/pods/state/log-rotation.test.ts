import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { systemDisk } from '../../host/disk.ts'
import type { Disk } from '../../ports.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { LogRotation } from './log-rotation.ts'

test('a log of more than 10 MiB is moved on and emptied; five files are kept', async () => {
  const clock = createManualClock(0)
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('logs'), clock), async call => call())
  const log = recordingLog()
  await disk.makeDirectory('/log', 0o700)
  const rotation = new LogRotation({ paths: () => ['/log/0.log', '/log/missing.log'], disk, clock, log })
  rotation.start()
  for (let n = 0; n < 7; n++) {
    await disk.write('/log/0.log', `${n}`.padEnd(10 * 1024 * 1024 + (n === 3 ? 0 : 1)), { mode: 0o640 })
    await clock.advance(10_000)
    for (let turn = 0; turn < 20; turn++) await settle()
  }
  const first = async (name: string) => String.fromCharCode((await disk.read(`/log/${name}`))[0] ?? 0)
  assert.deepEqual(await disk.list('/log'), ['0.log', '0.log.1', '0.log.2', '0.log.3', '0.log.4'])
  assert.deepEqual(await Promise.all(['0.log.1', '0.log.2', '0.log.3', '0.log.4'].map(first)), [
    '6',
    '5',
    '4',
    '2',
  ])
  assert.equal((await disk.stat('/log/0.log')).size, 0)
  assert.equal(log.lines.length, 7, 'a log that is not there is said')
  await rotation.stop()
  assert.equal(clock.pending(), 0)
})

test('a log that nobody writes to is not looked at until the disk tells of a change', async () => {
  const clock = createManualClock(0)
  const simulated = asynchronousDisk(new MachineDisk(new SeededRandom('quiet'), clock), async call => call())
  const told = new Map<string, () => void>()
  const disk: Disk = {
    ...simulated,
    watch(folder, onChange) {
      told.set(folder, onChange)
      return { close: () => told.delete(folder) }
    },
  }
  const log = recordingLog()
  let paths = ['/log/0.log']
  await disk.makeDirectory('/log', 0o700)
  await disk.write('/log/0.log', 'a', { mode: 0o640 })
  const rotation = new LogRotation({ paths: () => paths, disk, clock, log })
  const after = async (milliseconds: number) => {
    await clock.advance(milliseconds)
    for (let turn = 0; turn < 20; turn++) await settle()
  }
  rotation.start()
  for (let look = 0; look < 2; look++) await after(10_000)
  assert.deepEqual([clock.pending(), [...told.keys()]], [0, ['/log']])
  await disk.write('/log/0.log', ''.padEnd(10 * 1024 * 1024 + 1), { mode: 0o640 })
  told.get('/log')?.()
  await after(10_000)
  assert.deepEqual(await disk.list('/log'), ['0.log', '0.log.1'])
  for (let look = 0; look < 3; look++) await after(10_000)
  assert.equal(clock.pending(), 0)

  // Another container has started.
  paths = ['/log/0.log', '/log/1.log']
  await disk.write('/log/1.log', 'b', { mode: 0o640 })
  rotation.start()
  assert.equal(clock.pending(), 1)
  for (let look = 0; look < 3; look++) await after(10_000)
  assert.equal(clock.pending(), 0)
  await rotation.stop()
  assert.deepEqual([told.size, log.lines], [0, []])
})

test('attack: a log of gigabytes is moved on by its end, in pieces, and a full disk does not keep it from being emptied', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-logs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, '0.log')
  const size = 5 * 2 ** 30
  const clock = createManualClock(0)
  const log = recordingLog()
  const working = new Set<Promise<unknown>>()
  let largest = 0
  let isFull = false
  const counted = <T>(work: Promise<T>): Promise<T> => {
    working.add(work)
    work.catch(() => {}).finally(() => working.delete(work))
    return work
  }
  const disk: Disk = {
    ...systemDisk,
    list: of => counted(systemDisk.list(of)),
    stat: of => counted(systemDisk.stat(of)),
    remove: of => counted(systemDisk.remove(of)),
    rename: (from, to) => counted(systemDisk.rename(from, to)),
    readRange(of, offset, length) {
      largest = Math.max(largest, length)
      return counted(systemDisk.readRange?.(of, offset, length) ?? assert.fail())
    },
    write: (of, data, options) => counted(systemDisk.write(of, data, options)),
    append: (of, data, options) =>
      counted(
        isFull
          ? Promise.reject(Object.assign(new Error('disk full'), { code: 'ENOSPC' }))
          : systemDisk.append(of, data, options),
      ),
  }
  const rotation = new LogRotation({ paths: () => [path], disk, clock, log })
  rotation.start()
  const look = async () => {
    // As large as a pod can make it in ten seconds; its blocks are not on the disk.
    writeFileSync(path, '')
    truncateSync(path, size)
    appendFileSync(path, 'last words')
    await clock.advance(10_000)
    while (working.size > 0) {
      await Promise.allSettled(working)
      await settle()
    }
  }
  await look()
  assert.equal(statSync(path).size, 0)
  const kept = readFileSync(`${path}.1`)
  assert.equal(kept.length, 20 * 2 ** 20)
  assert.equal(kept.subarray(-10).toString(), 'last words')
  assert.ok(largest <= 2 ** 20)
  isFull = true
  await look()
  assert.equal(statSync(path).size, 0)
  assert.deepEqual(readdirSync(folder).sort(), ['0.log', '0.log.2'])
  assert.deepEqual(log.lines, [])
  await rotation.stop()
})
