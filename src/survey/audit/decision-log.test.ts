import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import { systemDisk } from '../../host/disk.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { AuditEntry, AuditedDecision } from './audit-entry.ts'
import { checkHeads } from './check-heads.ts'
import { type DecisionLogOptions, openDecisionLog } from './decision-log.ts'
import { readLogFiles } from './log-files.ts'
import { signHead } from './signed-head.ts'
import { verifyChain } from './verify-chain.ts'

const decision = (name: string): AuditedDecision => ({
  request: { name, uid: `uid-${name}` },
  signer: 'kubernetes.io/kubelet-serving',
  requester: 'system:node:a',
  node: 'a',
  outcome: 'Approve',
  reasons: ['SansProven'],
  message: 'Every SAN is proven.',
  sans: [{ name: '10.0.0.1', proofs: [{ level: 'NodeStatus', source: 'Node a status.addresses' }] }],
})

/** A folder of its own, removed afterwards. */
async function inFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'decisions-'))
  try {
    await run(join(folder, 'decisions.log'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

let seed = 1
const open = (path: string, more: Partial<DecisionLogOptions> = {}) =>
  openDecisionLog({
    path,
    disk: systemDisk,
    clock: createManualClock(Date.parse('2026-03-01T12:00:00Z')),
    random: seededRandom(seed++),
    writer: 'replica-1',
    ...more,
  })
const verify = async (path: string) => verifyChain(await readLogFiles(path, systemDisk))

test('decisions that are recorded at once and after a restart are one whole chain', () =>
  inFolder(async path => {
    const first = await open(path)
    await Promise.all(['a', 'b', 'c'].map(name => first.record(decision(name))))
    const second = await open(path, { writer: 'replica-2' })
    await second.record(decision('d'))
    const report = await verify(path)
    assert.deepEqual([report.entries, report.broken, report.notes], [6, undefined, []])
    assert.deepEqual(report.position, second.position())
  }))

test('the first entry that was changed, left out, repeated or put in is named', () =>
  inFolder(async path => {
    const log = await open(path)
    for (const name of ['a', 'b', 'c']) await log.record(decision(name))
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const [start = '', a = '', b = '', c = ''] = lines
    const brokenAt = (...changed: string[]) => {
      const { broken } = verifyChain([{ name: 'x', text: `${changed.join('\n')}\n` }])
      return broken && [broken.line, broken.seq]
    }
    assert.equal(brokenAt(start, a, b, c), undefined)
    assert.deepEqual(brokenAt(start, a.replace('Approve', 'Deny'), b, c), [2, 2])
    assert.deepEqual(brokenAt(start, a, c), [3, 4])
    assert.deepEqual(brokenAt(start, a, a, b, c), [3, 2])
    assert.deepEqual(brokenAt(start, a, 'x', b, c), [3, 3])
    assert.deepEqual(brokenAt(start, a, b, c.slice(0, -9)), [4, 4])
  }))

test('no change of one byte in the middle of a log goes unnoticed', () =>
  inFolder(async path => {
    const log = await open(path)
    for (const name of ['a', 'b']) await log.record(decision(name))
    const text = readFileSync(path)
    const changes = fc.tuple(fc.nat(text.length - 2), fc.integer({ min: 1, max: 127 }))
    fc.assert(
      fc.property(changes, ([at, by]) => {
        const changed = Buffer.from(text)
        changed[at] = ((changed[at] ?? 0) + by) % 128
        assert.ok(verifyChain([{ name: 'x', text: changed.toString('latin1') }]).broken)
      }),
      { numRuns: 300 },
    )
  }))

test('after a torn last line the log is whole, says so, and goes on', () =>
  inFolder(async path => {
    const before = await open(path)
    await before.record(decision('a'))
    appendFileSync(path, '{"seq":3,"time":"2026')
    const torn = await verify(path)
    assert.equal(torn.broken, undefined)
    assert.match(torn.notes.join(), /decisions\.log:3: the last line was not written to its end/)
    const after = await open(path)
    await after.record(decision('b'))
    const report = await verify(path)
    assert.deepEqual([report.entries, report.broken], [4, undefined])
    assert.match(report.notes.join(), /a write was interrupted there/)
  }))

test('a full file is followed by another, the oldest go, and what is left is one chain', () =>
  inFolder(async folder => {
    // A name that looks like that of a full file.
    const path = join(folder, '..', 'a.000000000000.b')
    for (let round = 0; round < 3; round++) {
      const log = await open(path, { mostBytes: 1500, mostFiles: 2 })
      for (let count = 0; count < 9; count++) await log.record(decision(`${round}-${count}`))
    }
    assert.equal(readdirSync(join(path, '..')).length, 3)
    const report = await verify(path)
    assert.equal(report.broken, undefined)
    assert.equal(report.position?.seq, 30)
    assert.match(report.notes.join(), /begins at entry \d+; older ones were rotated away/)
  }))

test('attack: a request as large as may be takes a few KiB when it is refused; of an approved one no name is lost', () =>
  inFolder(async path => {
    const log = await open(path)
    const text = 'x'.repeat(100_000)
    const large: AuditedDecision = {
      ...decision('a'),
      requester: text,
      message: text,
      decidedBy: text,
      sans: Array.from({ length: 1000 }, (_, n) => ({ name: `${n}.${'y'.repeat(200)}`, proofs: [] })),
    }
    await log.record({ ...large, outcome: 'Deny' })
    assert.ok(statSync(path).size < 10_000, `${statSync(path).size} bytes`)
    await log.record(large)
    const found: AuditEntry[] = []
    const report = verifyChain(await readLogFiles(path, systemDisk), entry => void found.push(entry))
    assert.equal(report.broken, undefined)
    const counts = found.map(entry =>
      entry.kind === 'decision' ? [entry.sans.length, entry.sansLeftOut ?? 0] : [],
    )
    assert.deepEqual(counts.slice(1), [
      [18, 982],
      [1000, 0],
    ])
  }))

test('a disk that takes nothing refuses decisions, and the chain is whole when it takes them again', () =>
  inFolder(async path => {
    let full = false
    const disk = {
      ...systemDisk,
      async append(...[file, data, options]: Parameters<typeof systemDisk.append>) {
        if (!full) return systemDisk.append(file, data, options)
        await systemDisk.append(file, Buffer.from(data).subarray(0, 20), options)
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      },
    }
    const log = await open(path, { disk })
    await log.record(decision('a'))
    full = true
    await assert.rejects(log.record(decision('b')), error => hasCode(error, 'AUDIT_UNWRITABLE'))
    full = false
    await log.record(decision('b'))
    const report = await verify(path)
    assert.deepEqual([report.entries, report.broken], [4, undefined])
  }))

test('a log that was cut off, or replaced by another one, disagrees with the published head', () =>
  inFolder(async path => {
    const log = await open(path)
    for (const name of ['a', 'b', 'c']) await log.record(decision(name))
    const signer = generateSigner('Ed25519', seededRandom(4))
    const head = await signHead(log.position(), '2026-03-01T12:01:00Z', signer)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    const check = async (pinned?: string) => {
      const hashes = new Map<number, string>()
      const report = verifyChain(await readLogFiles(path, systemDisk), ({ seq }, hash) =>
        hashes.set(seq, hash),
      )
      return checkHeads([head], report.position, n => hashes.get(n), Math.min(...hashes.keys()), pinned)
        .problems
    }
    assert.deepEqual(await check(), [])
    assert.match((await check('00')).join(), /signed by another key/)
    writeFileSync(path, `${lines.slice(0, 3).join('\n')}\n`)
    assert.match((await check()).join(), /entries 4 to 4 are missing/)
    // Whoever cuts it off and lets the controller write on makes a chain that is whole, and another one.
    const again = await open(path)
    await again.record(decision('d'))
    assert.match((await check()).join(), /entry 4 is another one/)
  }))
