import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lineLog } from './line-log.ts'

test('a log file that cannot be written ends nothing; that is said once, and how much is missing once it can', t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-log-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'rollcall.log')
  const complaints: string[] = []
  mkdirSync(path)
  const log = lineLog(path, text => complaints.push(text))
  log.info('lost')
  log.error('lost too')
  assert.deepEqual(complaints, [
    `rollcall: the log ${path} cannot be written (EISDIR); going on without it.\n`,
  ])
  rmdirSync(path)
  log.info('kept')
  log.info('kept too')
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const told = lines.map(line => JSON.parse(line)).map(({ message, lost }) => [message, lost])
  assert.deepEqual(told, [
    ['lines of this log were lost', 2],
    ['kept', undefined],
    ['kept too', undefined],
  ])
})
