import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { hasCode } from '../errors.ts'
import { allOf } from '../testing/all-of.ts'
import { madeLeaf } from '../testing/made-leaf.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { openSqliteLedger } from './sqlite-ledger.ts'

const folder = mkdtempSync(join(tmpdir(), 'rollcall-ledger-'))
after(() => rmSync(folder, { recursive: true }))
const hour = 3_600_000
const start = Date.UTC(2026, 2, 1, 12)

const open = (name: string, clock = createManualClock(start), log = recordingLog()) =>
  openSqliteLedger({ path: join(folder, name), clock, log })

test('what was recorded is read after it was closed; the same leaf twice is one, of another CA it is another', async () => {
  const first = await open('reopened')
  const entry = madeLeaf(start + hour)
  const other = { ...entry, issuerFingerprint: 'f'.repeat(64) }
  await Promise.all([first.record(entry), first.record(entry), first.record(other)])
  await first.record(entry)
  await first.close()
  const again = await open('reopened')
  const { fingerprint: _f, subject: _s, certificate: _c, request, ...leaf } = entry
  const read = { ...leaf, request: { name: request.name } }
  assert.deepEqual(await allOf(again.issued), [read, { ...read, issuerFingerprint: other.issuerFingerprint }])
  await again.close()
  assert.equal(statSync(join(folder, 'reopened')).mode & 0o777, 0o600)
})

test('leaves that ended are not read; the first one recorded a day later drops them', async () => {
  const clock = createManualClock(start)
  const ledger = await open('pruned', clock)
  await ledger.record(madeLeaf(start, { serialNumber: '01' }))
  assert.deepEqual(await allOf(ledger.issued), [])
  const lines = () => {
    const database = new DatabaseSync(join(folder, 'pruned'), { readOnly: true })
    const { count } = database.prepare('SELECT count(*) AS count FROM leaves').get() ?? {}
    database.close()
    return count
  }
  await clock.advance(24 * hour)
  await ledger.record(madeLeaf(start + 48 * hour, { serialNumber: '02' }))
  assert.equal(lines(), 2)
  await clock.advance(1)
  await ledger.record(madeLeaf(start + 48 * hour, { serialNumber: '03' }))
  assert.equal(lines(), 2)
  await ledger.close()
})

test('a process that is killed while it records loses nothing that it was told is recorded', async () => {
  const path = join(folder, 'killed')
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module-typescript',
      '--eval',
      endlessWriter(path),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const told: string[] = []
  for await (const serial of createInterface({ input: child.stdout })) {
    told.push(serial)
    if (told.length === 40) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  const ledger = await open('killed')
  const kept = new Set((await allOf(ledger.issued)).map(({ serialNumber }) => serialNumber))
  await ledger.close()
  assert.ok(told.length >= 40)
  assert.deepEqual(
    told.filter(serial => !kept.has(serial)),
    [],
  )
})

function endlessWriter(path: string): string {
  const at = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)
  return `
    import { writeSync } from 'node:fs'
    import { openSqliteLedger } from ${at('./sqlite-ledger.ts')}
    import { madeLeaf } from ${at('../testing/made-leaf.ts')}
    const clock = { now: () => ${start} }
    const ledger = await openSqliteLedger({ path: ${JSON.stringify(path)}, clock })
    for (let number = 0; ; number++) {
      const serialNumber = number.toString(16).padStart(8, '0')
      await ledger.record(madeLeaf(${start + hour}, { serialNumber }))
      writeSync(1, serialNumber + '\\n')
    }`
}

test('a file that is no whole ledger is refused in one sentence, and left as it is', async () => {
  const path = join(folder, 'damaged')
  writeFileSync(path, 'x'.repeat(8192))
  const refused = (error: unknown) =>
    hasCode(error, 'STORAGE_FAILED') && /move it away to go on without it/.test(error.message)
  await assert.rejects(open('damaged'), refused)
  assert.equal(statSync(path).size, 8192)
  rmSync(path)
  const ledger = await open('damaged')
  for (let number = 0; number < 50; number++)
    await ledger.record(madeLeaf(start + hour, { serialNumber: number.toString(16).padStart(2, '0') }))
  await ledger.close()
  truncateSync(path, 8192)
  await assert.rejects(open('damaged'), refused)
})

test('what cannot be written is refused, and nothing of it is kept', async () => {
  const ledger = await open('refusing')
  const other = new DatabaseSync(join(folder, 'refusing'))
  other.exec('BEGIN EXCLUSIVE')
  await assert.rejects(ledger.record(madeLeaf(start + hour)), error => hasCode(error, 'STORAGE_FAILED'))
  other.exec('ROLLBACK')
  other.close()
  assert.deepEqual(await allOf(ledger.issued), [])
  await ledger.record(madeLeaf(start + hour))
  assert.equal((await allOf(ledger.issued)).length, 1)
  await ledger.close()
})
