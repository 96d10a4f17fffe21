import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { requestName } from './checks/b09-name-taken.ts'
import { onFleet, onQuietCluster } from './testing/examined-cluster.ts'
import { foundIds, later, lonelyNode, minute, ownRequest } from './testing/lonely-node.ts'

test(
  'B04: a node name in upper case',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.ask({ by: cluster.bootstrapper, node: 'WHIIPVR00291' })
    await cluster.finds('B04')
  }),
)

test(
  'B05: a node without a name',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.ask({ by: cluster.bootstrapper, node: '' })
    await cluster.finds('B05')
  }),
)

test(
  'B09: a request by the name of another, and one whose certificate has ended',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const signer = generateSigner('ECDSA-P256', seededRandom(3))
    const names = { commonName: 'system:node:worker-9', organizations: ['system:nodes'] }
    const pem = await signedRequest({ signer, ...names })
    const usages = ['digital signature', 'client auth']
    const own = requestName(signer.publicKey, names.commonName, names.organizations, usages)
    const make = (name: string) =>
      cluster.bootstrapper.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: { request: Buffer.from(pem).toString('base64'), signerName: signerNames.kubeletClient, usages },
      })
    await make(own)
    assert.deepEqual(foundIds(await cluster.examine()), [], 'a kubelet takes it for its own')
    await cluster.start({ only: ['signing'] })
    await cluster.decide(own, 'Approved', 'KubectlApprove')
    await cluster.stopControllers()
    await later(cluster, 25 * 60 * minute)
    await cluster.admin.patch(
      resources.secrets,
      { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
      'merge',
      { data: { expiration: null } },
    )
    const { findings } = await cluster.finds('B09')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /its certificate ended at 2026-03-02/)
    await cluster.admin.delete(resources.certificateSigningRequests, { name: own })
    await make(`${own.slice(0, -4)}AAAA`)
    const other = await cluster.finds('B09')
    assert.ok(other.findings[0]?.evidence[0]?.value.endsWith(own))
  }),
)

test('K-22: the name of a bootstrap request is that of a kubelet', () => {
  const spki =
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVGf5wOYz7bd8gi45EzTqJB+VWnOK+MHroHxZt3rCnfCkYM0YJ0Bk1Li3OHXz0aMu+BhH6qDstrrP9t4wLdL7sA=='
  const name = requestName(
    Buffer.from(spki, 'base64'),
    'system:node:node-a',
    ['system:nodes'],
    ['digital signature', 'client auth'],
  )
  assert.equal(name, 'node-csr-MsypHAquysaBBdp-YAXY6hEAnh81f3lMVXqV7aFRRpw')
})

test(
  'B10: a Node without an IP address',
  onFleet(async cluster => {
    await cluster.register('worker-3', [['Hostname', 'worker-3']])
    assert.deepEqual(foundIds(await cluster.examine()), [], 'a new Node is given time')
    cluster.clock.step(6 * minute)
    for (const name of ['worker-1', 'worker-2', 'worker-3']) await cluster.beat(name)
    const { findings } = await cluster.finds('B10')
    assert.deepEqual(findings[0]?.objects, ['Node worker-3'])
  }),
)

test(
  'B13: a node that floods the API; not one that is denied each time',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const node = await cluster.node('worker-1')
    for (let n = 0; n < 10; n++)
      await cluster.decide(await cluster.ask({ by: node, ...ownRequest }), 'Denied', 'Policy')
    await cluster.finds('C09')
    for (let n = 0; n < 10; n++)
      await cluster.decide(await cluster.ask({ by: node, node: 'worker-1' }), 'Approved', 'X')
    const { findings } = await cluster.finds('B13', ['C09'])
    assert.match(JSON.stringify(findings), /10 client requests in the last hour: 10 unsigned/)
  }),
)

test(
  'B14: several requests of one node wait',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const node = await cluster.node('worker-1')
    for (let n = 0; n < 3; n++) await cluster.ask({ by: node, ...ownRequest })
    const { findings } = await cluster.finds('B14')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /3 undecided serving requests/)
    await later(cluster, 2 * minute)
    const report = await cluster.finds('C04')
    assert.deepEqual(foundIds(report), ['C04'], 'that nobody decides is the cause')
    assert.deepEqual(report.explained, [{ id: 'B14', by: 'C04', count: 1 }])
  }),
)
