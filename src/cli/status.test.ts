import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { type CertificateSigningRequest, type Role, resources } from '../kube/types.ts'
import { configMapLedger } from '../sign/config-map-ledger.ts'
import { runCommand } from '../testing/command-run.ts'
import { type ControlledCluster, startControlledCluster } from '../testing/controlled-cluster.ts'
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
  assert.match(before, /client +valid 1 +expired 0 +not known 0\nserving +valid 1 +expired 0 +not known 0\n/)
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
  assert.match(await status(await cluster.as('ledger-viewer')), /client +valid 1 +expired 0 +not known 0\n/)
})

test('who may not read the ledger sees what requests tell', async () => {
  await cluster.grant('viewer', viewing)
  const shown = await status(await cluster.as('viewer'))
  assert.match(shown, /client +valid 0 +expired 0 +not known 1\n/)
})
