/** What a controller found out about nodes, in place of what the doctor looks at itself: with when it was seen, and not for ever. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveHttps } from '../agent/serve-https.ts'
import type { ServingPair } from '../agent/serving.ts'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import { conditionRules } from '../controller/rbac.ts'
import { generateSigner } from '../keys/private-key.ts'
import { type ConfigMap, type KubeNode, resources } from '../kube/types.ts'
import { configMapLedger } from '../sign/config-map-ledger.ts'
import { publishedNames } from '../survey/serving-probes/published-probes.ts'
import { calm } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import type { Report } from './diagnose.ts'
import { exitCodeOf } from './diagnose.ts'
import { type ExaminedCluster, onCluster, serverCertificate } from './testing/examined-cluster.ts'

const hour = 3_600_000
const key = generateSigner('ECDSA-P256', seededRandom(111))
const statusOf = ({ checks }: Report, id: string) => checks.find(check => check.id === id)?.status

/** A node at 127.0.4.N that serves a certificate for these addresses. */
async function nodeServing(cluster: ExaminedCluster, index: number, ips: string[]) {
  const address = `127.0.4.${index}`
  const pair: ServingPair = {
    chain: await serverCertificate(cluster, { key, ips, commonName: `system:node:node-${index}` }),
    key: key.exportPem(),
  }
  const handle = async () => ({ status: 404, headers: {}, body: new Uint8Array() })
  const server = await serveHttps({ address, port: 0, getCertificate: () => pair, handle })
  const name = `node-${index}`
  await cluster.register(name, [['InternalIP', address]])
  const node = await cluster.admin.get<KubeNode>(resources.nodes, { name })
  const status = { ...node.status, daemonEndpoints: { kubeletEndpoint: { Port: server.port } } }
  await cluster.admin.update(resources.nodes, { ...node, status }, { subresource: 'status' })
  await cluster.beat(name)
  return server
}

/** One round of `controller --probe-nodes 60s`. Handshakes take real time, the pauses between them the cluster's. */
async function probeOnce(cluster: ExaminedCluster): Promise<void> {
  let looking = 0
  const look: typeof lookAtTls = async target => {
    looking++
    return lookAtTls(target).finally(() => looking--)
  }
  const running = await cluster.start({ only: [], probes: { look, intervalSeconds: 60, loopback: true } })
  const last = { name: publishedNames.at(-1) ?? '', namespace: 'kube-system' }
  const isTold = () =>
    cluster.admin.get<ConfigMap>(resources.configMaps, last).then(
      () => true,
      () => false,
    )
  while (!(await isTold())) {
    if (looking === 0) await cluster.clock.advance(1000)
    await calm()
    await new Promise(resolve => setImmediate(resolve))
  }
  await running.stop()
}

test(
  'facts of :10250 come from the controller that probes, with their time; of whom it did not see, nothing is OK',
  onCluster(async cluster => {
    await cluster.start({ only: ['root-ca-publishing', 'bootstrap-signing'] })
    const servers = [
      await nodeServing(cluster, 1, ['127.0.4.1']),
      await nodeServing(cluster, 2, ['10.0.0.1']),
    ]
    const before = await cluster.examine()
    assert.equal(statusOf(before, 'G05'), 'NOT_ASKED', 'nobody looked')
    await probeOnce(cluster)
    await Promise.all(servers.map(server => server.close()))
    const seen = cluster.clock.now()
    cluster.clock.step(60_000)
    for (const name of ['node-1', 'node-2']) await cluster.beat(name)
    const report = await cluster.finds('G05')
    const [evidence] = report.findings[0]?.evidence ?? []
    assert.deepEqual(report.findings[0]?.objects, ['Node node-2'])
    assert.match(evidence?.source ?? '', /^served at 127\.0\.4\.2:\d+$/)
    assert.ok(Math.abs(Date.parse(evidence?.at ?? '') - seen) < 120_000, 'it tells when')
    assert.equal(statusOf(report, 'G07'), 'OK', 'all nodes were looked at')

    await cluster.register('node-3', [['InternalIP', '127.0.4.3']])
    const more = await cluster.examine()
    assert.equal(statusOf(more, 'G07'), 'SKIP', 'of node-3 nobody knows')
    assert.match(JSON.stringify(more.missing), /2 of 3 nodes were looked at: 2 by controller --probe-nodes/)

    cluster.clock.step(hour)
    for (const name of ['node-1', 'node-2']) await cluster.beat(name)
    const late = await cluster.examine()
    assert.ok(!late.findings.some(({ id }) => id === 'G05'), 'what was so an hour ago says nothing of now')
    assert.equal(statusOf(late, 'G05'), 'SKIP')
  }),
)

test(
  'what requests no longer tell is told by a ledger, or by conditions of Nodes; without both it is not OK',
  onCluster(async cluster => {
    const { admin, clock } = cluster
    await cluster.grant('conditions', conditionRules)
    const ledger = configMapLedger({ ...cluster, client: cluster.controllerClient })
    await cluster.start({ ledger, issued: ledger.issued, nodeConditions: { intervalSeconds: 60 } })
    await cluster.join('worker-1', '10.0.0.11')
    await clock.advance(61_000)
    await calm()
    await cluster.stopControllers()
    for (const { metadata } of (await admin.list(resources.certificateSigningRequests)).items)
      await admin.delete(resources.certificateSigningRequests, { name: metadata.name })
    await cluster.beat('worker-1')
    const known = await cluster.examine()
    for (const id of ['E11', 'E18', 'G06']) assert.equal(statusOf(known, id), 'OK', id)

    clock.step(23.2 * hour)
    await cluster.beat('worker-1')
    const overdue = async (where: RegExp) => {
      const { findings } = await cluster.examine()
      const found = findings.find(({ id }) => id === 'E18')
      assert.match(found?.evidence[0]?.source ?? 'nothing', where)
    }
    await overdue(/^the signer's ledger$/)
    for (const { metadata } of (await admin.list(resources.configMaps, { namespace: 'kube-system' })).items)
      if (metadata.name.startsWith('rollcall-ledger-'))
        await admin.delete(resources.configMaps, { name: metadata.name, namespace: 'kube-system' })
    await overdue(/^Node worker-1 status.conditions ClientCertificateValid$/)

    const node = await admin.get<KubeNode>(resources.nodes, { name: 'worker-1' })
    const changed = { ...node, status: { ...node.status, conditions: [] } }
    await admin.update(resources.nodes, changed, { subresource: 'status' })
    const report = await cluster.examine()
    assert.deepEqual(
      ['E11', 'E18', 'G06', 'Z01'].map(id => statusOf(report, id)),
      ['OK', 'SKIP', 'SKIP', 'OK'],
      'who is alive holds a certificate; when it ends nobody knows; one node is no fleet',
    )
    assert.equal(report.findings.length === 0 ? exitCodeOf(report) : 4, 4)
    clock.step(hour)
    assert.equal(
      statusOf(await cluster.examine(), 'E11'),
      'SKIP',
      'nor whether that of a silent node has ended',
    )
  }),
)
