import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import { formatMicroTime } from '../kube/time-format.ts'
import { type ConfigMap, type KubeNode, type Lease, resources } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import {
  type ExaminedCluster,
  onCluster,
  onFleet,
  onQuietCluster,
  serverCertificate,
} from './testing/examined-cluster.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const both = ['worker-1', 'worker-2']

/** Time passes; no controller cleans up or renews, the named nodes live on. */
async function later(cluster: ExaminedCluster, milliseconds: number, alive = both): Promise<void> {
  await cluster.stopControllers()
  // The token of the cluster is good for a day, which is no matter here.
  await cluster.admin.patch(
    resources.secrets,
    { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    'merge',
    {
      data: { expiration: Buffer.from('2027-01-01T00:00:00Z').toString('base64') },
    },
  )
  cluster.clock.step(milliseconds)
  for (const name of alive) await cluster.beat(name)
}

test(
  'E11: a node that was off for longer than its certificate lived',
  onFleet(async cluster => {
    await later(cluster, 30 * hour, ['worker-1'])
    const report = await cluster.finds('E11')
    assert.deepEqual(report.findings[0]?.objects, ['Node worker-2'])
    assert.deepEqual(report.explained, [{ id: 'Z07', by: 'E11', count: 1 }], 'that it is silent is a symptom')
  }),
)

test(
  'an expired certificate of a node that is alive was renewed, and is nothing',
  onFleet(async cluster => {
    await later(cluster, 30 * hour)
    assert.deepEqual((await cluster.examine()).findings, [])
  }),
)

test(
  'E12: certificates that are not valid yet, by a clock that was set back',
  onFleet(async cluster => {
    await cluster.stopControllers()
    const notBefore = cluster.clock.now() - day
    cluster.serves.chain = await serverCertificate(cluster, { dnsNames: ['cluster.example'], notBefore })
    cluster.clock.step(-20 * minute)
    const report = await cluster.finds('E12')
    assert.equal(report.findings[0]?.objects.length, 4)
    assert.ok(report.explained.some(({ id, by }) => id === 'E13' && by === 'E12'))
  }),
)

test(
  "E13: report 14: a node's clock that is ahead",
  onFleet(async cluster => {
    const target = { name: 'worker-2', namespace: 'kube-node-lease' }
    const spec = { renewTime: formatMicroTime(cluster.clock.now() + 3 * minute) }
    await cluster.admin.patch<Lease>(resources.leases, target, 'merge', { spec })
    const { findings } = await cluster.finds('E13')
    assert.deepEqual(findings[0]?.objects, ['Node worker-2'])
  }),
)

test(
  'E14: report 23: a client certificate of a CA that the API trusts no more',
  onFleet(async cluster => {
    const name = 'extension-apiserver-authentication'
    const trust = (pem: string): ConfigMap => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'kube-system' },
      data: { 'client-ca-file': pem },
    })
    const { metadata } = await cluster.admin.create(resources.configMaps, trust(cluster.ca.pem))
    assert.deepEqual((await cluster.examine()).findings, [])
    const now = cluster.clock.now()
    const signer = generateSigner('Ed25519', seededRandom(41))
    const times = { notBefore: now - day, notAfter: now + 3650 * day }
    const next = await selfSignedCa({ commonName: 'next', signer, ...times, random: seededRandom(42) })
    await cluster.admin.update(resources.configMaps, { ...trust(next), metadata })
    const { findings } = await cluster.finds('E14')
    assert.equal(findings[0]?.objects.length, 2)
    assert.match(JSON.stringify(findings), /certificate signed by unknown authority/)
  }),
)

test(
  'E15: a token asks for the identity of a node that is alive',
  onQuietCluster(async cluster => {
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    await cluster.ask({ by: cluster.bootstrapper, node: 'worker-1' })
    cluster.clock.step(2 * minute)
    await cluster.beat('worker-1')
    const report = await cluster.finds('E15')
    assert.deepEqual(report.explained, [{ id: 'C03', by: 'E15', count: 1 }])
  }),
)

test(
  'E15: two Nodes with one machine id',
  onFleet(async cluster => {
    for (const name of both) {
      const node = await cluster.admin.get<KubeNode>(resources.nodes, { name })
      const nodeInfo = { ...emptyNodeInfo, machineID: '8f3c' }
      await cluster.admin.update(
        resources.nodes,
        { ...node, status: { ...node.status, nodeInfo } },
        { subresource: 'status' },
      )
    }
    const { findings } = await cluster.finds('E15')
    assert.match(findings[0]?.cause ?? '', /worker-1 and worker-2 report one machine id/)
  }),
)

const emptyNodeInfo = {
  architecture: '',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  operatingSystem: '',
  osImage: '',
  systemUUID: '',
}

test(
  'E18: a renewal that is overdue',
  onFleet(async cluster => {
    await later(cluster, 23 * hour + 30 * minute)
    const { findings } = await cluster.finds('E18')
    assert.deepEqual(findings[0]?.objects, ['Node worker-1', 'Node worker-2'])
  }),
)

test(
  'G06: an address that came after the certificate',
  onFleet(async cluster => {
    await cluster.register('worker-1', [
      ['InternalIP', '10.0.0.11'],
      ['InternalIP', '10.0.0.21'],
      ['Hostname', 'worker-1'],
    ])
    const { findings } = await cluster.finds('G06')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^InternalIP 10.0.0.21$/)
  }),
)

test(
  'Z07: a node that went silent, and nothing else is wrong with it',
  onFleet(async cluster => {
    await later(cluster, 5 * minute, ['worker-1'])
    const { findings } = await cluster.finds('Z07')
    assert.deepEqual(findings[0]?.objects, ['Node worker-2'])
  }),
)

test(
  'Z08: an address that two Nodes claim explains what is refused for it',
  onFleet(async cluster => {
    await cluster.register('worker-3', [
      ['InternalIP', '10.0.0.12'],
      ['Hostname', 'worker-3'],
    ])
    await cluster.beat('worker-3')
    const by = await cluster.node('worker-3')
    await cluster.ask({ by, node: 'worker-3', dns: ['worker-3'], ips: ['10.0.0.12'] })
    const report = await cluster.finds('Z08')
    assert.deepEqual(report.findings[0]?.objects, ['Node worker-2', 'Node worker-3'])
    assert.ok(report.explained.every(({ by }) => by === 'Z08') && report.explained.length > 0)
  }),
)

test(
  'Z06: requests of one signer approved by two programs',
  onFleet(async cluster => {
    await cluster.stopControllers()
    await cluster.start({ only: ['signing'] })
    const by = await cluster.node('worker-1')
    const name = await cluster.ask({ by, node: 'worker-1', dns: ['worker-1'], ips: ['10.0.0.11'] })
    await cluster.decide(name, 'Approved', 'PostfinanceApproved')
    const { findings } = await cluster.finds('Z06')
    assert.match(findings[0]?.cause ?? '', /PostfinanceApproved and SansProven/)
  }),
)

test(
  'Z02: more requests than anybody could want',
  onQuietCluster(async cluster => {
    await cluster.start({ only: ['signing'] })
    for (let n = 0; n < 1000; n++) await cluster.makeRequest(`old-${n}`)
    await cluster.finds('Z02')
  }),
)

test(
  'E19: certificates of an hour',
  onCluster(async cluster => {
    await cluster.start({ certificateLifetimeSeconds: 3600 })
    await cluster.join('worker-1', '10.0.0.11')
    const { findings } = await cluster.finds('E19')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^lives for (60m|65m|1h)/)
  }),
)
