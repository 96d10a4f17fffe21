import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { silentLog } from '../ports.ts'
import { rolloverApi } from './rollover-option.ts'

test('attack: a file of --rollover that everybody can write is not read: it names what the controller runs', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-rollover-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const rollover = join(folder, 'rollover.yaml')
  writeFileSync(rollover, '{}')
  chmodSync(rollover, 0o666)
  await assert.rejects(
    rolloverApi({ rollover, leaderElection: true }, [], silentLog),
    error => hasCode(error, 'USAGE') && /can be written by everybody/.test(String(error)),
  )
})
