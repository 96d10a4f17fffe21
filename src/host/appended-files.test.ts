import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { AppendedFiles } from './appended-files.ts'

test('what is appended goes to the file of that name, also when the one before was moved away or removed', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-append-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [path, moved] = [join(folder, 'a.log'), join(folder, 'b.log')]
  const files = new AppendedFiles()
  await files.append(path, 'one\n', 0o600, true)
  await Promise.all([files.append(path, 'two\n', 0o600, true), files.append(path, 'three\n', 0o600, true)])
  renameSync(path, moved)
  await files.append(path, 'four\n', 0o600, true)
  rmSync(path)
  await files.append(path, Buffer.from('five\n'), 0o600, true)
  assert.equal(readFileSync(moved, 'utf8').split('\n').sort().join(), ',one,three,two')
  assert.equal(readFileSync(path, 'utf8'), 'five\n')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  for (let other = 0; other < 10; other++) await files.append(join(folder, String(other)), 'x', 0o600, false)
  await files.append(path, 'six\n', 0o600, true)
  assert.equal(readFileSync(path, 'utf8'), 'five\nsix\n')
  rmSync(folder, { recursive: true })
  await assert.rejects(files.append(path, 'lost', 0o600, true), { code: 'ENOENT' })
})
