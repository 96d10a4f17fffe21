import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { memoryDisk } from '../../testing/memory-disk.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { AuditedDecision } from './audit-entry.ts'
import { headKeyPath } from './head-key.ts'
import { readLogFiles } from './log-files.ts'
import { startDecisionLog } from './start-decision-log.ts'
import { verifyChain } from './verify-chain.ts'

const path = '/d/decisions.log'
const decision = (name: string): AuditedDecision => ({
  request: { name, uid: name },
  signer: 'kubernetes.io/kubelet-serving',
  requester: 'system:node:a',
  outcome: 'Deny',
  reasons: ['SanUnproven'],
  message: '',
  sans: [],
})

/** The log of a process that begins while the disk is full; and how to make room. */
const onFullDisk = (
  run: (log: ReturnType<typeof startDecisionLog>, disk: ReturnType<typeof memoryDisk>) => Promise<void>,
) =>
  onCluster(async ({ admin, clock }) => {
    const disk = memoryDisk()
    disk.full = true
    const around = { client: admin, clock, log: recordingLog(), random: seededRandom(3) }
    const log = startDecisionLog({ ...around, path, disk, writer: 'w' })
    await assert.rejects(log.record(decision('early')), error => hasCode(error, 'AUDIT_UNWRITABLE'))
    await run(log, disk)
    await log.stop()
  })

test(
  'a log that could not be opened is opened once, however many decisions wait for it, and its chain is whole',
  onFullDisk(async (log, disk) => {
    disk.full = false
    await Promise.all(['a', 'b', 'c', 'd'].map(name => log.record(decision(name))))
    await log.record(decision('e'))
    const report = verifyChain(await readLogFiles(path, disk))
    assert.deepEqual([report.broken, report.entries], [undefined, 6])
  }),
)

test(
  'a key that found no room on the disk is made when there is room',
  onFullDisk(async (log, disk) => {
    const { append } = disk
    // Room for a line of the log, but none for the key.
    disk.append = (file, data) => append.call({ ...disk, full: false }, file, data)
    await assert.rejects(log.record(decision('a')), error => hasCode(error, 'AUDIT_UNWRITABLE'))
    disk.full = false
    await log.record(decision('a'))
    assert.match(String(disk.files.get(headKeyPath(path))), /PRIVATE KEY/)
    assert.equal(verifyChain(await readLogFiles(path, disk)).broken, undefined)
  }),
)

test(
  'refusals that could not be written do not count as seen: the next one is kept',
  onFullDisk(async (log, disk) => {
    for (let count = 0; count < 150; count++)
      await assert.rejects(log.record(decision('a')), error => hasCode(error, 'AUDIT_UNWRITABLE'))
    disk.full = false
    for (let count = 0; count < 150; count++) await log.record(decision('a'))
    assert.equal(verifyChain(await readLogFiles(path, disk)).entries, 101)
  }),
)
