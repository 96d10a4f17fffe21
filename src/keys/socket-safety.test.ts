import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemDisk } from '../host/disk.ts'
import { folderProblem } from './socket-safety.ts'

const me = process.getuid?.() ?? 0

function folders(t: TestContext): { outer: string; inner: string } {
  const outer = mkdtempSync(join(tmpdir(), 'rollcall-folder-'))
  t.after(() => rmSync(outer, { recursive: true }))
  const inner = join(outer, 'run')
  mkdirSync(inner, 0o700)
  return { outer, inner }
}

test('attack: a folder that others can write to, or whose parent they can, is none to serve a socket in', async t => {
  const { outer, inner } = folders(t)
  assert.equal(await folderProblem(inner, [me], systemDisk), undefined)
  chmodSync(outer, 0o777)
  assert.equal(
    await folderProblem(inner, [me], systemDisk),
    `${outer} can be written by others than its owner`,
  )
  chmodSync(outer, 0o1777)
  assert.equal(await folderProblem(inner, [me], systemDisk), undefined, 'as /tmp: nobody else can replace it')
  symlinkSync(inner, join(outer, 'link'))
  assert.match((await folderProblem(join(outer, 'link'), [me], systemDisk)) ?? '', /is a symlink/)
})

test('attack: a folder that somebody else made beforehand is none either', {
  skip: me !== 0 && 'needs root',
}, async t => {
  const { inner } = folders(t)
  chownSync(inner, 65_534, 65_534)
  assert.equal(await folderProblem(inner, [me], systemDisk), `${inner} belongs to user 65534`)
})
