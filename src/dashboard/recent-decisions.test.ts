import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDecisionLog } from '../survey/audit/decision-log.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { memoryDisk } from '../testing/memory-disk.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { recentDecisions } from './recent-decisions.ts'

const path = '/d/decisions.log'
const MiB = 1024 * 1024

/** A log of that many decisions on a disk that counts the bytes that are read from then on. */
async function logOf(decisions: number, mostBytes: number) {
  const disk = memoryDisk()
  const log = await openDecisionLog({
    path,
    disk,
    clock: createManualClock(0),
    random: seededRandom(1),
    writer: 'one',
    mostBytes,
  })
  for (let index = 0; index < decisions; index++)
    await log.record({
      request: { name: `csr-${index}`, uid: `${index}` },
      signer: 'kubernetes.io/kubelet-serving',
      requester: 'system:node:a',
      outcome: 'Deny',
      reasons: ['SanUnproven'],
      message: 'x'.repeat(900),
      sans: [],
    })
  let bytes = 0
  const counted = <T extends Uint8Array>(read: T) => {
    bytes += read.length
    return read
  }
  return {
    read: () => bytes,
    disk: {
      ...disk,
      read: async (file: string) => counted(await disk.read(file)),
      readRange: async (file: string, from: number, length: number) =>
        counted(await disk.readRange(file, from, length)),
    },
  }
}

test('of a long log only the end is read for the latest decisions', async () => {
  const { disk, read } = await logOf(3000, 16 * MiB)
  const { decisions, broken } = await recentDecisions(path, disk, 300)
  assert.equal(broken, 0)
  assert.equal(decisions.length, 300)
  assert.equal(decisions[0]?.request, 'csr-2999')
  assert.ok(read() <= MiB / 2, `${read()} bytes`)
})

test('where a file of the log was begun just now, the latest decisions go on in the one before', async () => {
  const { disk, read } = await logOf(1210, MiB)
  const { decisions, broken } = await recentDecisions(path, disk, 300)
  assert.equal(broken, 0)
  assert.deepEqual(
    decisions.map(({ request }) => request),
    Array.from({ length: 300 }, (_, index) => `csr-${1209 - index}`),
  )
  assert.ok(read() <= MiB, `${read()} bytes`)
})

test('a log that is not there yet has no decisions', async () => {
  assert.deepEqual(await recentDecisions(path, memoryDisk(), 300), { decisions: [], broken: 0 })
})
