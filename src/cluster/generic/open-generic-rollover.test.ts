import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { systemDisk as disk } from '../../host/disk.ts'
import { type GenericRolloverOptions, openGenericRollover } from './open-generic-rollover.ts'

test('attack: a directory that others can write is not taken, since hooks are handed the chains and keys that lie there', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-rollover-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'open'))
  chmodSync(join(folder, 'open'), 0o777)
  const doors = { owners: [process.getuid?.() ?? 0] }
  for (const directory of ['open', 'open/own'].map(name => join(folder, name))) {
    const options = { file: { directory, authorities: {} }, doors, disk } as unknown as GenericRolloverOptions
    await assert.rejects(
      openGenericRollover(options),
      error => hasCode(error, 'DIRECTORY_UNUSABLE') && /can be written by others/.test(String(error)),
    )
  }
})
