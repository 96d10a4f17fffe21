import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { encodeStoredBundle } from '../trust/stored-bundle.ts'
import { ceremonyTable, tableNow } from '../trust/testing/ceremony-table.ts'
import { decodeTrustReport, trustReportAnnotation } from '../trust/trust-report.ts'
import { encodeTrustRoots } from '../trust/trust-roots.ts'
import { AgentTrust } from './agent-trust.ts'

test('K-62: a bundle that was written to the disk is neither trusted nor reported before a process has loaded it', async () => {
  const { roots, bundles } = await ceremonyTable(2)
  const [steady, next] = bundles
  assert.ok(steady && next)
  const clock = createManualClock(tableNow)
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('trust'), clock), async call => call())
  await disk.makeDirectory('/trust', 0o755)
  await disk.write('/trust-roots', encodeTrustRoots(roots), { mode: 0o644 })
  const write = (bundle: typeof steady) =>
    disk.write('/trust/client.json', encodeStoredBundle(bundle), { mode: 0o644 })

  /** An agent that was started now, and what it says of itself. */
  async function started(pid: number) {
    const trust = new AgentTrust({
      disk,
      clock,
      log: recordingLog(),
      rootsPath: '/trust-roots',
      directory: '/trust',
      client: {} as never,
      instance: { bootID: 'boot', pid, startTicks: pid },
      onAnchors() {},
      onReport() {},
      clusterInfo: async () => ({}),
      probe: async () => true,
      renew() {},
      holds: () => undefined,
    })
    await trust.load()
    return () => {
      const report = decodeTrustReport(trust.annotations()?.[trustReportAnnotation])?.[0]
      return { generation: report?.generation, pid: report?.instance.pid, anchors: trust.anchors('client') }
    }
  }

  await write(steady)
  const first = await started(1)
  const before = first()
  assert.deepEqual([before.generation, before.pid], [1, 1])
  await write(next)
  assert.deepEqual(first(), before, 'the file is newer than what the process holds')
  const { generation, pid } = (await started(2))()
  assert.deepEqual([generation, pid], [2, 2])
})
