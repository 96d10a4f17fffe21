import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { systemDisk } from '../../host/disk.ts'
import { openStateFolder } from './state-folder.ts'

const user = process.getuid?.() ?? 0

test('attack: a state folder that others can write, or replace, is not believed; a link to a good one is followed', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-state-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const at = (name: string) => join(folder, name)
  const refused = async (name: string, why: RegExp) => {
    await assert.rejects(openStateFolder(at(name), user, systemDisk), error => {
      return hasCode(error, 'POD_RUNTIME_UNAVAILABLE') && why.test(String(error))
    })
    assert.ok(!existsSync(join(at(name), 'agent')), 'nothing is written there')
  }
  mkdirSync(at('open'))
  for (const mode of [0o777, 0o1777, 0o775]) {
    chmodSync(at('open'), mode)
    await refused('open', /open can be written by others than its owner/)
  }
  chmodSync(at('open'), 0o777)
  mkdirSync(at('open/own'), { mode: 0o700 })
  await refused('open/own', /open can be written by others/)
  symlinkSync('open/own', at('link'))
  await refused('link', /open can be written by others/)
  symlinkSync('circle', at('circle'))
  await assert.rejects(openStateFolder(at('circle'), user, systemDisk))

  mkdirSync(at('good'), { mode: 0o700 })
  symlinkSync('good', at('to-good'))
  await openStateFolder(at('to-good/new'), user, systemDisk)
  assert.ok(existsSync(at('good/new/agent')))
})
