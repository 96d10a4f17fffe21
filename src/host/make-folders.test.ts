import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemCode } from '../errors.ts'
import { makeFolders } from './make-folders.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-folders-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

test('missing parents are made with the mode, and what is there stays as it is', t => {
  const root = folder(t)
  makeFolders(join(root, 'a/b/c'), 0o700)
  makeFolders(join(root, 'a/b'), 0o755)
  for (const part of ['a', 'a/b', 'a/b/c']) assert.equal(statSync(join(root, part)).mode & 0o777, 0o700)
})

test('a file in the way is an error, not a folder', t => {
  const root = folder(t)
  writeFileSync(join(root, 'file'), '')
  for (const path of ['file', 'file/below']) {
    assert.throws(
      () => makeFolders(join(root, path), 0o700),
      error => systemCode(error) === 'ENOTDIR',
    )
  }
})

test('a place where the kernel makes no folders is an error and not an endless loop', () => {
  assert.throws(
    () => makeFolders('/proc/rollcall/data', 0o700),
    error => systemCode(error) === 'ENOENT',
  )
})
