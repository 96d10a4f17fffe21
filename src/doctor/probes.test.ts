/** Against real TLS servers on addresses of 127.0.0.0/8, one for each node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueSelfSigned, selfSignedTemplate } from '../agent/self-signed-serving.ts'
import { serveHttps } from '../agent/serve-https.ts'
import type { ServingPair } from '../agent/serving.ts'
import { generateSigner } from '../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import { type KubeNode, type KubeObject, resources } from '../kube/types.ts'
import { authorityOf } from '../sign/authority.ts'
import { ip } from '../testing/judged-request.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { type ExaminedCluster, onFleet } from './testing/examined-cluster.ts'

const day = 86_400_000
const key = generateSigner('Ed25519', seededRandom(71))
const address = '127.0.0.11'

/** What a kubelet would serve; PEM. */
function serving(
  cluster: ExaminedCluster,
  of: { node?: string; ips?: string[]; notAfter?: number; ca?: ExaminedCluster['ca'] } = {},
): Promise<string> {
  const { node = 'worker-3', ips = [address], notAfter = cluster.clock.now() + day, ca = cluster.ca } = of
  return issueCertificate({
    ca,
    subject: nameOf({ commonName: `system:node:${node}`, organizations: ['system:nodes'] }),
    spki: key.publicKey,
    notBefore: notAfter - 2 * day,
    notAfter,
    random: seededRandom(72),
    extensions: {
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: [oids.serverAuth],
      subjectAltName: { dnsNames: [node], ipAddresses: ips.map(ip) },
    },
  })
}

/** Runs `work` while node worker-3 serves this; without a pair it has nothing to show, as a kubelet that waits. */
async function whileServing(
  cluster: ExaminedCluster,
  pair: ServingPair | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const server = await serveHttps({
    address,
    port: 0,
    getCertificate: () => pair,
    handle: async () => ({ status: 404, headers: {}, body: new Uint8Array() }),
  })
  try {
    await nodeAt(cluster, server.port)
    await work()
  } finally {
    await server.close()
  }
}

async function nodeAt(cluster: ExaminedCluster, port: number): Promise<void> {
  // The two others answer nowhere, which is no finding about certificates; their addresses would take time to refuse.
  for (const name of ['worker-1', 'worker-2']) await cluster.admin.delete(resources.nodes, { name })
  await cluster.register('worker-3', [
    ['InternalIP', address],
    ['Hostname', 'worker-3'],
  ])
  const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'worker-3' })
  const status = { ...node.status, daemonEndpoints: { kubeletEndpoint: { Port: port } } }
  await cluster.admin.update(resources.nodes, { ...node, status }, { subresource: 'status' })
}

const plain = (chain: string): ServingPair => ({ chain, key: key.exportPem() })

test(
  'a node that serves a certificate of the cluster is well',
  onFleet(async cluster => {
    await whileServing(cluster, plain(await serving(cluster)), async () => {
      const report = await cluster.examine({ probe: true })
      assert.deepEqual(report.findings, [])
      assert.equal(report.checks.find(({ id }) => id === 'G05')?.status, 'OK')
    })
  }),
)

test(
  'B11: a certificate that the kubelet signed itself',
  onFleet(async cluster => {
    const made = await issueSelfSigned(selfSignedTemplate('worker-3', 'ECDSA-P256'), 'ECDSA-P256', {
      clock: cluster.clock,
      random: seededRandom(73),
    })
    await whileServing(cluster, made, async () => {
      const report = await cluster.finds('B11', [], { probe: true })
      assert.equal(report.findings[0]?.severity, 'critical', 'as loud as what it explains')
      assert.deepEqual(
        report.explained.map(({ id }) => id),
        ['G04'],
      )
    })
  }),
)

test(
  'G01: nothing to serve',
  onFleet(async cluster => {
    await whileServing(cluster, undefined, async () => {
      const { findings } = await cluster.finds('G01', [], { probe: true })
      assert.equal(findings[0]?.evidence[0]?.value, 'remote error: tls: internal error')
      await cluster.ask({
        by: await cluster.node('worker-3'),
        node: 'worker-3',
        dns: ['worker-3'],
        ips: ['10.9.9.9'],
      })
      cluster.clock.step(2 * 60_000)
      const report = await cluster.finds('C05', [], { probe: true })
      assert.deepEqual(
        report.explained.map(({ id, by }) => `${id} by ${by}`),
        ['C04 by C05', 'G01 by C05'],
      )
    })
  }),
)

test(
  'G04: a certificate for the host name alone',
  onFleet(async cluster => {
    await whileServing(cluster, plain(await serving(cluster, { ips: [] })), async () => {
      const { findings } = await cluster.finds('G04', [], { probe: true })
      assert.match(JSON.stringify(findings), /doesn't contain any IP SANs/)
    })
  }),
)

test(
  'G05: report 90: a certificate without the address that is dialled',
  onFleet(async cluster => {
    await whileServing(cluster, plain(await serving(cluster, { ips: ['10.0.0.1'] })), async () => {
      const { findings } = await cluster.finds('G05', [], { probe: true })
      assert.match(JSON.stringify(findings), /certificate is valid for 10.0.0.1, not 127.0.0.11/)
    })
  }),
)

test(
  'G07: a serving certificate that has expired',
  onFleet(async cluster => {
    const notAfter = cluster.clock.now() - 60_000
    await whileServing(cluster, plain(await serving(cluster, { notAfter })), async () => {
      await cluster.finds('G07', [], { probe: true })
    })
  }),
)

test(
  'G10: a serving certificate of a CA that the cluster does not publish',
  onFleet(async cluster => {
    const signer = generateSigner('Ed25519', seededRandom(74))
    const times = { notBefore: cluster.clock.now() - 10 * day, notAfter: cluster.clock.now() + 10 * day }
    const pem = await selfSignedCa({ commonName: 'other', signer, ...times, random: seededRandom(75) })
    const chain = await serving(cluster, { ca: { ...authorityOf(pem, signer), pem } })
    await whileServing(cluster, plain(chain), async () => {
      await cluster.finds('G10', [], { probe: true })
    })
  }),
)

test(
  'G12: another node answers at the address',
  onFleet(async cluster => {
    await whileServing(cluster, plain(await serving(cluster, { node: 'worker-7' })), async () => {
      const { findings } = await cluster.finds('G12', [], { probe: true })
      assert.match(findings[0]?.cause ?? '', /Node worker-7 answers at the address of Node worker-3/)
    })
  }),
)

test(
  'Z03: a node that is Ready and answers nowhere',
  onFleet(async cluster => {
    await nodeAt(cluster, 1)
    const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'worker-3' })
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '' } as const
    const changed = { ...node, status: { ...node.status, conditions: [ready] } }
    await cluster.admin.update(resources.nodes, changed, { subresource: 'status' })
    const { findings } = await cluster.finds('Z03', [], { probe: true })
    assert.match(findings[0]?.evidence[0]?.value ?? '', /ECONNREFUSED/)
  }),
)

test(
  'G02: kube-apiserver verifies, and a node still signs for itself',
  onFleet(async cluster => {
    const flags = ['--kubelet-certificate-authority=/ca.crt', '--enable-bootstrap-token-auth=true']
    const pod: KubeObject & { spec: object } = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'kube-apiserver-cp-1', namespace: 'kube-system', labels: { tier: 'control-plane' } },
      spec: { containers: [{ name: 'kube-apiserver', image: 'x', command: ['kube-apiserver', ...flags] }] },
    }
    await cluster.admin.create(resources.pods, pod)
    const { clock } = cluster
    const template = selfSignedTemplate('worker-3', 'ECDSA-P256')
    const pair = await issueSelfSigned(template, 'ECDSA-P256', { clock, random: seededRandom(76) })
    await whileServing(cluster, pair, async () => {
      const report = await cluster.finds('G02', [], { probe: true })
      assert.ok(report.explained.some(({ id, by }) => id === 'B11' && by === 'G02'))
    })
  }),
)
