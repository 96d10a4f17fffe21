/** The ledger of `up` and `server` through its API: what `rollcall status` knows when the requests are gone. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { register as registerCerts } from '../cli/certs.ts'
import { register as registerNodes } from '../cli/nodes.ts'
import { register as registerStatus } from '../cli/status.ts'
import { isStatus } from '../kube/client.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { readLedger, servedLedgerPath } from '../sign/served-ledger.ts'
import { runCommand } from '../testing/command-run.ts'
import { startControlledCluster } from '../testing/controlled-cluster.ts'
import { madeLeaf } from '../testing/made-leaf.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { openSqliteLedger, type SqliteLedger } from './sqlite-ledger.ts'

const hour = 3_600_000
const start = Date.UTC(2026, 2, 1, 12)

async function withLedger(run: (ledger: SqliteLedger) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-served-'))
  const path = join(folder, 'ledger.db')
  const ledger = await openSqliteLedger({ path, clock: createManualClock(start), log: recordingLog() })
  try {
    await run(ledger)
  } finally {
    await ledger.close()
    rmSync(folder, { recursive: true })
  }
}

test('status and nodes know certificates of a served ledger after their requests were deleted', () =>
  withLedger(async ledger => {
    const cluster = await startControlledCluster({ views: { [servedLedgerPath]: () => ledger.newest() } })
    try {
      await cluster.start({ ledger, issued: ledger.issued })
      await cluster.register('a', [['InternalIP', '10.0.0.1']])
      await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
      await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
      // What is recorded comes from a thread: it is issued when the request says so.
      await issuedAll(cluster.admin)
      const show = async () => [
        (await runCommand(registerStatus, cluster.admin, cluster.clock, 'status')).stdout.replace(
          /\nrequests.*/,
          '',
        ),
        (await runCommand(registerNodes, cluster.admin, cluster.clock, 'nodes', 'a')).stdout,
      ]
      const before = await show()
      assert.match(before[0] ?? '', /client +valid 1 .*\nserving +valid 1 /)
      const { items } = await cluster.admin.list<CertificateSigningRequest>(csrs)
      for (const { metadata } of items) await cluster.admin.delete(csrs, { name: metadata.name })
      assert.deepEqual(await show(), before)
      const listed = await runCommand(registerCerts, cluster.admin, cluster.clock, 'certs', 'ls')
      assert.match(listed.stdout, /\na +client .*\na +serving /)
      const { exitCode } = await runCommand(registerCerts, cluster.admin, cluster.clock, 'certs', 'expiring')
      assert.equal(exitCode, 0)

      await cluster.grant('no-ledger', [])
      const nobody = await cluster.as('no-ledger')
      await assert.rejects(nobody.raw(servedLedgerPath), error => isStatus(error, 'Forbidden'))
      assert.deepEqual(await readLedger(nobody), { leaves: [], unreadable: [] })
      const viewing = { verbs: ['get'], nonResourceURLs: [servedLedgerPath] }
      await cluster.grant('ledger', [viewing])
      assert.equal((await readLedger(await cluster.as('ledger'))).leaves.length, 2)
    } finally {
      await cluster.close()
    }
  }))

const csrs = resources.certificateSigningRequests

async function issuedAll(admin: Awaited<ReturnType<typeof startControlledCluster>>['admin']): Promise<void> {
  for await (const { object } of admin.watch<CertificateSigningRequest>(csrs, {})) {
    const { items } = await admin.list<CertificateSigningRequest>(csrs)
    if (items.every(({ status }) => status?.certificate)) return
    assert.ok(object)
  }
}

test('of each holder and signer the newest leaf is served, lapsed or not', () =>
  withLedger(async ledger => {
    const leaf = (serialNumber: string, of: object) => madeLeaf(start + hour, { serialNumber, ...of })
    await ledger.record(leaf('01', { notBefore: start - 3 * hour, notAfter: start + hour }))
    await ledger.record(leaf('02', { notBefore: start - 2 * hour, notAfter: start - hour }))
    await ledger.record(leaf('03', { holder: 'system:node:other', notAfter: start - hour }))
    const keys = Object.keys(ledger.newest().data).map(key => key.split('.')[0])
    assert.deepEqual(keys.sort(), ['02', '03'])
  }))
