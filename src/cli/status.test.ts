import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { formatMicroTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, type Lease, type Role, resources } from '../kube/types.ts'
import { configMapLedger } from '../sign/config-map-ledger.ts'
import { runCommand } from '../testing/command-run.ts'
import { type ControlledCluster, startControlledCluster } from '../testing/controlled-cluster.ts'
import { encodeTrustReport, trustReportAnnotation } from '../trust/trust-report.ts'
import { register as registerNodes } from './nodes.ts'
import { register as registerStatus } from './status.ts'

let cluster: ControlledCluster
const viewing = [
  { verbs: ['list'], apiGroups: [''], resources: ['nodes'] },
  { verbs: ['list'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] },
]

before(async () => {
  cluster = await startControlledCluster()
  await cluster.start({ ledger: configMapLedger({ ...cluster, client: cluster.controllerClient }) })
  await cluster.register('a', [['InternalIP', '10.0.0.1']])
  await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
  await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
})
after(() => cluster.close())

const status = async (client = cluster.admin) =>
  (await runCommand(registerStatus, client, cluster.clock, 'status')).stdout

test('certificates are known by the ledger after their requests were deleted', async () => {
  const before = await status()
  assert.match(
    before,
    /client +valid 1 +overdue 0 +expired 0 +not known 0\nserving +valid 1 +overdue 0 +expired 0 +not known 0\n/,
  )
  const node = await runCommand(registerNodes, cluster.admin, cluster.clock, 'nodes', 'a')
  const { items } = await cluster.admin.list<CertificateSigningRequest>(resources.certificateSigningRequests)
  for (const { metadata } of items)
    await cluster.admin.delete(resources.certificateSigningRequests, { name: metadata.name })
  assert.equal(await status(), before)
  const again = await runCommand(registerNodes, cluster.admin, cluster.clock, 'nodes', 'a')
  assert.equal(again.stdout, node.stdout)
  assert.match(again.stdout, /serving +valid for 23h/)
})

test('the role rollcall-ledger-viewer is all that it takes beside the right to list nodes and requests', async () => {
  const url = new URL('../../deploy/rbac/rollcall-ledger-viewer.yaml', import.meta.url)
  const role: Role = parse(readFileSync(url, 'utf8'))
  assert.equal(role.kind, 'Role')
  await cluster.grant('ledger-viewer', viewing)
  await cluster.grant('ledger-viewer', role.rules ?? [], role.metadata.namespace)
  assert.match(
    await status(await cluster.as('ledger-viewer')),
    /client +valid 1 +overdue 0 +expired 0 +not known 0\n/,
  )
})

test('who may not read the ledger sees what requests tell', async () => {
  await cluster.grant('viewer', viewing)
  const shown = await status(await cluster.as('viewer'))
  assert.match(shown, /client +valid 0 +overdue 0 +expired 0 +not known 1\n/)
})

test('status tells CAs, who decides, what is late with its node, and where to look', async () => {
  const running = await startControlledCluster()
  try {
    const shown = async (...words: string[]) =>
      (await runCommand(registerStatus, running.admin, running.clock, 'status', ...words)).stdout
    assert.match(await shown(), /^controllers +none is seen by its Lease$/m)
    await running.start()
    await running.register('a', [['InternalIP', '10.0.0.1']])
    await running.ask({ by: running.bootstrapper, node: 'a' })
    assert.match(await shown(), /^ca +CN=kubernetes 10y left$/m)
    assert.match(await shown(), /^client +valid 1 +overdue 0 /m)
    running.clock.step(23.2 * 3_600_000)
    const late = await shown()
    assert.match(late, /^client +valid 0 +overdue 1 /m)
    assert.match(late, /expired, or to be renewed by now:\n {2}a {3}client {3}4\dm left {3}2026-03-02T/)
    assert.match(late, /rollcall doctor\n$/)
    running.clock.step(3_600_000)
    assert.match(await shown(), /^ {2}a {3}client {3}ENDED \d+m ago/m)
    const { authorities, nodes } = JSON.parse(await shown('-o', 'json'))
    assert.deepEqual([authorities.length, nodes[0].name], [1, 'a'])
  } finally {
    await running.close()
  }
})

test('a node tells its version, when it reported, and what it trusts', async () => {
  const { admin, clock } = cluster
  const digest = 'ab'.repeat(32)
  const instance = { bootID: 'a', pid: 1, startTicks: 2 }
  const common = { generation: 3, digest, instance, evidence: 'memory' as const, loadedAt: clock.now() }
  const report = encodeTrustReport([{ role: 'client', subject: 'agent', ...common }])
  await admin.create<Lease>(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'a',
      namespace: 'kube-node-lease',
      annotations: { [trustReportAnnotation]: report },
    },
    spec: { holderIdentity: 'a', leaseDurationSeconds: 40, renewTime: formatMicroTime(clock.now() - 12_000) },
  })
  const { stdout } = await runCommand(registerNodes, admin, clock, 'nodes', 'a')
  assert.match(stdout, /^report +12s ago, by its own clock \(Lease\)$/m)
  assert.match(stdout, /^trust +client: bundle 3, sha256:abababababab… in memory$/m)
})
