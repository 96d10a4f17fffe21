import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hasCode } from '../errors.ts'
import { openDataDirectory } from './data-directory.ts'

function temporaryFolder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-dir-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('the data directory is created for its owner alone', t => {
  const folder = temporaryFolder(t)
  const opened = openDataDirectory(join(folder, 'data'))
  assert.equal(statSync(opened.root).mode & 0o777, 0o700)
  opened.release()
})

test('a second process is refused until the first lets go, and a killed one holds nothing', t => {
  const folder = temporaryFolder(t)
  const opened = openDataDirectory(folder)
  assert.throws(
    () => openDataDirectory(folder),
    error => hasCode(error, 'DIRECTORY_IN_USE'),
  )
  opened.release()
  const holder = `import { openDataDirectory } from ${JSON.stringify(new URL('./data-directory.ts', import.meta.url).href)}
openDataDirectory(process.argv[1]); process.kill(process.pid, 'SIGKILL')`
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', holder, folder])
  assert.equal(signal, 'SIGKILL')
  openDataDirectory(folder).release()
})

test('a data directory that cannot be made is one clear sentence', t => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, '')
  assert.throws(
    () => openDataDirectory(join(file, 'data')),
    error => hasCode(error, 'DIRECTORY_UNUSABLE') && error.message.includes('--dir'),
  )
})
