import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemDisk } from '../../host/disk.ts'
import type { Disk } from '../../ports.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import type { FileReading } from './desired-pods.ts'
import { ManifestDirectory } from './manifest-directory.ts'

/** A real folder under a clock of the test's, and a disk whose watches tell what the test says. */
async function follow(run: (followed: Followed) => Promise<void>): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-manifests-'))
  // Far ahead of the disk's clock: no file is so young that it may change without a trace.
  const clock = createManualClock(Date.now() + 3_600_000)
  const reads: string[] = []
  const told: (() => void)[] = []
  const troubles: (string | undefined)[] = []
  let readings: readonly FileReading[] = []
  const working = new Set<Promise<unknown>>()
  const counted = <T>(work: Promise<T>): Promise<T> => {
    working.add(work)
    work.catch(() => {}).finally(() => working.delete(work))
    return work
  }
  const disk: Disk = {
    ...systemDisk,
    list: folder => counted(systemDisk.list(folder)),
    stat: file => counted(systemDisk.stat(file)),
    readlink: file => counted(systemDisk.readlink(file)),
    read: file => {
      reads.push(file.slice(path.length + 1))
      return counted(systemDisk.read(file))
    },
    watch: (_, onChange) => {
      told.push(onChange)
      return { close: () => {} }
    },
  }
  const directory = new ManifestDirectory({
    path,
    disk,
    clock,
    log: recordingLog(),
    onReadings: now => {
      readings = now
    },
    onTrouble: () => troubles.push(directory.trouble),
  })
  try {
    await run({
      path,
      in: name => join(path, name),
      start: () => directory.start(),
      async after(milliseconds) {
        reads.length = 0
        await clock.advance(milliseconds)
        while (working.size > 0) {
          await Promise.allSettled(working)
          await settle()
        }
        return reads
      },
      tell: () => told.at(-1)?.(),
      troubles,
      problems: () => readings.flatMap(({ problem }) => problem?.message ?? []),
      texts: () => readings.map(({ text }) => text ?? ''),
    })
  } finally {
    await directory.stop()
    rmSync(path, { recursive: true })
  }
  assert.equal(clock.pending(), 0)
}

interface Followed {
  path: string
  in(name: string): string
  start(): Promise<void>
  /** Resolves with the files that were read. */
  after(milliseconds: number): Promise<readonly string[]>
  tell(): void
  texts(): string[]
  problems(): string[]
  troubles: readonly (string | undefined)[]
}

test('what nobody changed is not read again at the look of every 20 s, and what was changed untold is', () =>
  follow(async manifests => {
    writeFileSync(manifests.in('a.yaml'), 'one')
    writeFileSync(manifests.in('b.yaml'), 'two')
    await manifests.start()
    assert.deepEqual(manifests.texts(), ['one', 'two'])
    assert.deepEqual(await manifests.after(20_000), [])
    writeFileSync(manifests.in('b.yaml'), 'six')
    // As long and, as far as anybody can say, as old as before.
    utimesSync(manifests.in('b.yaml'), 0, 0)
    assert.deepEqual(await manifests.after(20_000), ['b.yaml'])
    assert.deepEqual(manifests.texts(), ['one', 'six'])
    renameSync(manifests.in('a.yaml'), manifests.in('c.yaml'))
    await manifests.after(20_000)
    assert.deepEqual(manifests.texts(), ['six', 'one'])
  }))

test('where a change is told all is read, and what a link leads to each time', () =>
  follow(async manifests => {
    writeFileSync(manifests.in('.target'), 'one')
    symlinkSync('.target', manifests.in('a.yaml'))
    writeFileSync(manifests.in('b.yaml'), 'two')
    await manifests.start()
    writeFileSync(manifests.in('.target'), 'six')
    assert.deepEqual(await manifests.after(20_000), ['a.yaml'])
    assert.deepEqual(manifests.texts(), ['six', 'two'])
    manifests.tell()
    assert.deepEqual((await manifests.after(100)).toSorted(), ['a.yaml', 'b.yaml'])
  }))

test('a change that is told while the folder is being read is looked at soon after, and changes that never cease within a second', () =>
  follow(async manifests => {
    writeFileSync(manifests.in('a.yaml'), 'one')
    const first = manifests.start()
    // It has begun, and has no answer of the disk yet.
    await Promise.resolve()
    manifests.tell()
    await first
    writeFileSync(manifests.in('a.yaml'), 'two')
    await manifests.after(100)
    assert.deepEqual(manifests.texts(), ['two'])
    writeFileSync(manifests.in('a.yaml'), 'three')
    for (let n = 0; n < 30; n++) {
      manifests.tell()
      await manifests.after(50)
    }
    assert.deepEqual(manifests.texts(), ['three'])
  }))

test('attack: a manifest or a folder that everybody can write is not used, and what was used before stays', () =>
  follow(async manifests => {
    writeFileSync(manifests.in('a.yaml'), 'one')
    await manifests.start()
    writeFileSync(manifests.in('b.yaml'), 'two')
    chmodSync(manifests.in('b.yaml'), 0o666)
    await manifests.after(20_000)
    assert.deepEqual(manifests.texts(), ['one', ''])
    assert.match(manifests.problems().join(), /^can be written by everybody on this machine/)
    // With the sticky bit too: who may make files there needs to replace none.
    chmodSync(manifests.path, 0o1777)
    writeFileSync(manifests.in('c.yaml'), 'three')
    for (let n = 0; n < 3; n++) await manifests.after(20_000)
    assert.deepEqual(manifests.texts(), ['one', ''])
    assert.equal(manifests.troubles.length, 1)
    chmodSync(manifests.path, 0o755)
    await manifests.after(20_000)
    assert.deepEqual(manifests.texts(), ['one', '', 'three'])
    assert.deepEqual(manifests.troubles.slice(1), [undefined])
  }))

test('attack: a link to a pipe, a device or itself is not opened: reading it would never end', () =>
  follow(async manifests => {
    execFileSync('mkfifo', [manifests.in('.pipe')])
    symlinkSync('.pipe', manifests.in('a.yaml'))
    symlinkSync('/dev/zero', manifests.in('b.yaml'))
    symlinkSync('c.yaml', manifests.in('c.yaml'))
    symlinkSync('nowhere', manifests.in('d.yaml'))
    writeFileSync(manifests.in('.target'), 'one')
    symlinkSync('.target', manifests.in('.second'))
    symlinkSync(manifests.in('.second'), manifests.in('e.yaml'))
    await manifests.start()
    assert.deepEqual(manifests.texts().filter(Boolean), ['one'])
    assert.deepEqual(manifests.problems(), [
      'is no ordinary file',
      'is no ordinary file',
      'cannot be read (ELOOP)',
    ])
  }))
