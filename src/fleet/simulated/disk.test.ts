import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemCode } from '../../errors.ts'
import { MachineDisk } from './disk.ts'
import { SeededRandom } from './random.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function diskAt(seed: string) {
  const clock = { at: 0, now: () => clock.at, monotonic: () => clock.at }
  return { disk: new MachineDisk(new SeededRandom(seed), clock), clock }
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    return systemCode(error)
  }
}

/** What a crash left behind, over many seeds. */
function outcomes(
  prepare: (disk: MachineDisk) => void,
  look: (disk: MachineDisk) => string,
  wait = 0,
): Set<string> {
  const seen = new Set<string>()
  for (let seed = 0; seed < 100; seed += 1) {
    const { disk, clock } = diskAt(String(seed))
    prepare(disk)
    clock.at += wait
    disk.crash()
    seen.add(look(disk))
  }
  return seen
}

const contents = (path: string) => (disk: MachineDisk) => {
  try {
    return text(disk.read(path))
  } catch (error) {
    return systemCode(error) ?? 'other'
  }
}

test('errors have the codes of node:fs', () => {
  const { disk } = diskAt('codes')
  disk.makeDirectory('/d/e', 0o700)
  disk.write('/d/file', 'x', { mode: 0o600 })
  disk.symlink('/d/loop', '/d/loop')
  const options = { mode: 0o600 }
  assert.equal(
    codeOf(() => disk.read('/no')),
    'ENOENT',
  )
  assert.equal(
    codeOf(() => disk.read('/d')),
    'EISDIR',
  )
  assert.equal(
    codeOf(() => disk.read('/d/file/x')),
    'ENOTDIR',
  )
  assert.equal(
    codeOf(() => disk.read('/d/loop')),
    'ELOOP',
  )
  assert.equal(
    codeOf(() => disk.write('/no/x', 'x', options)),
    'ENOENT',
  )
  assert.equal(
    codeOf(() => disk.write('/d', 'x', options)),
    'EISDIR',
  )
  assert.equal(
    codeOf(() => disk.write('/d/file', 'x', { ...options, exclusive: true })),
    'EEXIST',
  )
  assert.equal(
    codeOf(() => disk.symlink('x', '/d/file')),
    'EEXIST',
  )
  assert.equal(
    codeOf(() => disk.readlink('/d/file')),
    'EINVAL',
  )
  assert.equal(
    codeOf(() => disk.rename('/no', '/d/x')),
    'ENOENT',
  )
  assert.equal(
    codeOf(() => disk.rename('/d/file', '/d/e')),
    'EISDIR',
  )
  assert.equal(
    codeOf(() => disk.list('/no')),
    'ENOENT',
  )
  assert.equal(
    codeOf(() => disk.list('/d/file')),
    'ENOTDIR',
  )
  assert.equal(
    codeOf(() => disk.stat('/no')),
    'ENOENT',
  )
  assert.equal(
    codeOf(() => disk.makeDirectory('/d/file', 0o700)),
    'EEXIST',
  )
  assert.equal(
    codeOf(() => disk.makeDirectory('/d/file/x', 0o700)),
    'ENOTDIR',
  )
  assert.equal(
    codeOf(() => disk.remove('/d/e')),
    'EISDIR',
  )
  assert.equal(
    codeOf(() => disk.remove('/no/such')),
    undefined,
  )
  assert.equal(
    codeOf(() => disk.syncDirectory('/no')),
    'ENOENT',
  )
})

test('links are followed, also relative ones and those in the middle of a path', () => {
  const { disk } = diskAt('links')
  disk.makeDirectory('/pki/real', 0o700)
  disk.write('/pki/real/a.pem', 'one', { mode: 0o600 })
  disk.symlink('real', '/pki/folder')
  disk.symlink('../pki/folder/a.pem', '/pki/current')
  assert.equal(text(disk.read('/pki/current')), 'one')
  disk.write('/pki/current', 'two', { mode: 0o644 })
  assert.equal(text(disk.read('/pki/real/a.pem')), 'two')
  assert.equal(disk.stat('/pki/real/a.pem').mode, 0o600)
  assert.equal(disk.stat('/pki/current').kind, 'symlink')
  assert.deepEqual(disk.list('/pki/folder'), ['a.pem'])
  disk.rename('/pki/current', '/pki/other')
  assert.equal(disk.readlink('/pki/other'), '../pki/folder/a.pem')
  assert.deepEqual(disk.list('/pki'), ['folder', 'other', 'real'])
})

test('synced contents in a synced folder survive a crash', () => {
  const prepare = (disk: MachineDisk) => {
    disk.makeDirectory('/d', 0o700)
    disk.write('/d/f', 'old', { mode: 0o600, sync: true })
    disk.syncDirectory('/d')
  }
  assert.deepEqual(outcomes(prepare, contents('/d/f')), new Set(['old']))
})

test('unsynced contents are lost, kept or torn; unsynced names lost or kept', () => {
  const prepare = (disk: MachineDisk) => {
    disk.makeDirectory('/d', 0o700)
    disk.write('/d/f', 'old', { mode: 0o600, sync: true })
    disk.syncDirectory('/d')
    disk.write('/d/f', 'newer', { mode: 0o600 })
  }
  const seen = outcomes(prepare, contents('/d/f'))
  for (const outcome of ['old', 'newer', 'new'])
    assert.ok(seen.has(outcome), `never ${outcome}: ${[...seen]}`)
  const unsynced = (disk: MachineDisk) => disk.write('/f', 'x', { mode: 0o600, sync: true })
  assert.deepEqual(outcomes(unsynced, contents('/f')), new Set(['x', 'ENOENT']))
})

test('a rename is atomic: after a crash the name shows the old file or the new one', () => {
  const prepare = (disk: MachineDisk) => {
    disk.write('/f', 'old', { mode: 0o600, sync: true })
    disk.syncDirectory('/')
    disk.write('/f.new', 'new', { mode: 0o600, sync: true })
    disk.rename('/f.new', '/f')
  }
  assert.deepEqual(outcomes(prepare, contents('/f')), new Set(['old', 'new']))
})

test('removing a name before the rename leaves a moment without it, as a crash can show', () => {
  const prepare = (disk: MachineDisk) => {
    disk.symlink('old', '/current')
    disk.syncDirectory('/')
    disk.symlink('new', '/updated')
    disk.remove('/current')
    disk.rename('/updated', '/current')
  }
  const look = (disk: MachineDisk) =>
    disk
      .list('/')
      .map(name => `${name}=${disk.readlink(`/${name}`)}`)
      .join(' ')
  assert.deepEqual(
    outcomes(prepare, look),
    new Set(['current=old', 'current=old updated=new', 'updated=new', 'current=new']),
  )
})

test('the operating system writes by itself after some time', () => {
  const prepare = (disk: MachineDisk) => disk.write('/f', 'x', { mode: 0o600 })
  assert.deepEqual(outcomes(prepare, contents('/f'), 60_000), new Set(['x']))
})

test('a full disk leaves the overwritten file short, and a read-only one leaves it alone', () => {
  const { disk } = diskAt('full')
  disk.write('/f', 'contents', { mode: 0o600, sync: true })
  disk.faults.readOnly = true
  assert.equal(
    codeOf(() => disk.write('/f', 'x', { mode: 0o600 })),
    'EROFS',
  )
  assert.equal(
    codeOf(() => disk.remove('/f')),
    'EROFS',
  )
  assert.equal(text(disk.read('/f')), 'contents')
  disk.faults.readOnly = false
  disk.faults.full = true
  assert.equal(
    codeOf(() => disk.write('/f', 'contents', { mode: 0o600 })),
    'ENOSPC',
  )
  assert.ok(disk.read('/f').length < 'contents'.length)
  assert.equal(
    codeOf(() => disk.makeDirectory('/d', 0o700)),
    'ENOSPC',
  )
  disk.faults.full = false
  disk.write('/f', 'again', { mode: 0o600 })
  assert.equal(text(disk.read('/f')), 'again')
})

test('a reader cannot change what is on the disk', () => {
  const { disk } = diskAt('copy')
  const bytes = new Uint8Array([1, 2])
  disk.write('/f', bytes, { mode: 0o600 })
  bytes[0] = 9
  disk.read('/f')[1] = 9
  assert.deepEqual([...disk.read('/f')], [1, 2])
})
