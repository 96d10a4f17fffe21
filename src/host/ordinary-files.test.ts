import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ordinaryFiles } from './ordinary-files.ts'

test('attack: neither a pipe nor a device, nor a file of gigabytes, is read, also not behind a link', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-files-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  writeFileSync(at('plain'), 'text')
  symlinkSync('plain', at('link'))
  execFileSync('mkfifo', [at('pipe')])
  symlinkSync('pipe', at('to-pipe'))
  symlinkSync('/dev/zero', at('to-device'))
  writeFileSync(at('large'), '')
  truncateSync(at('large'), 2 ** 33)
  for (const name of ['plain', 'link'])
    assert.equal(Buffer.from(await ordinaryFiles.read(at(name))).toString(), 'text')
  const refused = async (path: string) =>
    ordinaryFiles.read(path).then(
      () => 'read',
      error => error.code,
    )
  const found = await Promise.all(['pipe', 'to-pipe', 'to-device', 'large', 'none', '.'].map(at).map(refused))
  assert.deepEqual(found, ['EFTYPE', 'EFTYPE', 'EFTYPE', 'EFBIG', 'ENOENT', 'EISDIR'])
  assert.ok((await ordinaryFiles.read('/proc/self/mounts')).length > 0)
})
