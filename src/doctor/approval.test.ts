import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../kube/types.ts'
import { ip } from '../testing/judged-request.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { onFleet, onQuietCluster } from './testing/examined-cluster.ts'
import { foundIds, later, lonelyNode, minute, ownRequest } from './testing/lonely-node.ts'

test(
  'C01: report 39: the first request of a node, with the binding of another group',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.admin.delete(resources.clusterRoleBindings, { name: 'kubeadm:node-autoapprove-bootstrap' })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'worker-3' })
    await later(cluster, 2 * minute)
    const report = await cluster.finds('C01')
    assert.deepEqual(foundIds(report), ['C01'])
    assert.ok(report.findings[0]?.objects.includes(`CertificateSigningRequest ${name}`))
  }),
)

test(
  'C02: report 39: a renewal that no role allows',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.admin.delete(resources.clusterRoleBindings, {
      name: 'kubeadm:node-autoapprove-certificate-rotation',
    })
    await cluster.ask({ by: await cluster.node('worker-1'), node: 'worker-1' })
    await later(cluster, 2 * minute)
    assert.deepEqual(foundIds(await cluster.finds('C02')), ['C02'])
  }),
)

test(
  'C03: nobody approves client requests',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.ask({ by: cluster.bootstrapper, node: 'worker-3' })
    assert.deepEqual(foundIds(await cluster.examine()), [], 'an approver is given time')
    await later(cluster, 2 * minute)
    assert.deepEqual(foundIds(await cluster.finds('C03')), ['C03'])
  }),
)

test(
  'C04: serving requests wait, of three nodes one finding',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    for (const n of [1, 2, 3]) {
      const name = `worker-${n}`
      await cluster.register(name, [
        ['InternalIP', `10.0.0.1${n}`],
        ['Hostname', name],
      ])
      await cluster.ask({ by: await cluster.node(name), node: name, dns: [name], ips: [`10.0.0.1${n}`] })
    }
    await later(cluster, 2 * minute)
    const { findings } = await cluster.finds('C04')
    assert.deepEqual(
      findings.map(({ id, objects }) => [id, objects.length]),
      [['C04', 3]],
    )
    assert.match(JSON.stringify(findings[0]?.evidence), /DNS worker-1, IP 10.0.0.11/)
  }),
)

test(
  'C05: an address that is not on the Node, pending and then denied',
  onFleet(async cluster => {
    await cluster.ask({
      by: await cluster.node('worker-1'),
      node: 'worker-1',
      dns: ['worker-1'],
      ips: ['10.0.0.99'],
    })
    await later(cluster, 2 * minute)
    await cluster.beat('worker-2')
    assert.deepEqual(foundIds(await cluster.finds('C05')), ['C05'])
  }),
)

test(
  "C05: another node's address is refused at once",
  onFleet(async cluster => {
    await cluster.ask({
      by: await cluster.node('worker-1'),
      node: 'worker-1',
      dns: ['worker-1'],
      ips: ['10.0.0.12'],
    })
    const { findings } = await cluster.finds('C05')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /also claimed by node "worker-2"/)
  }),
)

test(
  'C05: the cause follows the reason of the denial, which knows the range of Services',
  onFleet(async cluster => {
    await cluster.ask({
      by: await cluster.node('worker-1'),
      node: 'worker-1',
      dns: ['worker-1'],
      ips: ['10.96.0.1'],
    })
    const { findings } = await cluster.finds('C05')
    assert.match(findings[0]?.evidence[1]?.value ?? '', /^Denied, ReservedName: /)
    assert.match(findings[0]?.cause ?? '', /belongs to somebody else/)
  }),
)

test(
  'C07: usages of a client in a serving request',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const subjectAltName = { dnsNames: ownRequest.dns, ipAddresses: ownRequest.ips.map(ip) }
    const signer = generateSigner('Ed25519', seededRandom(1))
    const pem = await signedRequest({ signer, commonName: 'system:node:worker-1', subjectAltName })
    await (await cluster.node('worker-1')).create<CertificateSigningRequest>(
      resources.certificateSigningRequests,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: 'odd' },
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: signerNames.kubeletServing,
          usages: ['digital signature', 'client auth'],
        },
      },
    )
    await later(cluster, 2 * minute)
    assert.deepEqual(foundIds(await cluster.finds('C07')), ['C07'])
  }),
)

test(
  'C08: report 44: a serving request by a user that is not the node',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.grant('test', [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] },
    ])
    await cluster.ask({ by: await cluster.as('test', 'system:nodes'), ...ownRequest })
    await later(cluster, 2 * minute)
    const { findings } = await cluster.finds('C08')
    assert.match(JSON.stringify(findings[0]?.evidence), /"test in system:/)
  }),
)

test(
  'C09: a denial by a rule of somebody else',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.decide(
      await cluster.ask({ by: await cluster.node('worker-1'), ...ownRequest }),
      'Denied',
      'PrefixRule',
    )
    const { findings } = await cluster.finds('C09')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^Denied, PrefixRule/)
  }),
)

test(
  'C10: a serving request of a node that is gone',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const node = await cluster.node('worker-9')
    await cluster.ask({ by: node, node: 'worker-9', dns: ['worker-9'], ips: ['10.0.0.19'] })
    await later(cluster, 2 * minute)
    assert.deepEqual(foundIds(await cluster.finds('C10')), ['C10'])
  }),
)

test(
  'C06: an approver that asks DNS',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const name = await cluster.ask({ by: await cluster.node('worker-1'), ...ownRequest })
    await cluster.decide(name, 'Denied', 'lookup worker-1 on 10.96.0.10:53: no such host')
    const report = await cluster.finds('C06')
    assert.deepEqual(report.explained, [{ id: 'C09', by: 'C06', count: 1 }])
  }),
)
