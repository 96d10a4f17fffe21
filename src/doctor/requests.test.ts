import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { createClient } from '../kube/client.ts'
import { impersonating } from '../kube/impersonating-transport.ts'
import { type CertificateSigningRequest, type KubeNode, resources, signerNames } from '../kube/types.ts'
import { canaryGroup, canaryUser } from '../survey/canary/run-canary.ts'
import { calm } from '../testing/controlled-cluster.ts'
import { ip } from '../testing/judged-request.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { requestName } from './checks/b09-name-taken.ts'
import { type ExaminedCluster, onFleet, onQuietCluster } from './testing/examined-cluster.ts'

const minute = 60_000
const own = { node: 'worker-1', dns: ['worker-1'], ips: ['10.0.0.11'] }

/** A Node, alive, without any controller. */
async function lonelyNode(cluster: ExaminedCluster): Promise<void> {
  await cluster.register('worker-1', [
    ['InternalIP', '10.0.0.11'],
    ['Hostname', 'worker-1'],
  ])
}

async function later(cluster: ExaminedCluster, milliseconds: number): Promise<void> {
  cluster.clock.step(milliseconds)
  await cluster.beat('worker-1')
}

const ids = ({ findings }: Awaited<ReturnType<ExaminedCluster['examine']>>) => findings.map(({ id }) => id)

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
    assert.deepEqual(ids(await cluster.examine()), [], 'a kubelet takes it for its own')
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
    assert.deepEqual(ids(await cluster.examine()), [], 'a new Node is given time')
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
      await cluster.decide(await cluster.ask({ by: node, ...own }), 'Denied', 'Policy')
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
    for (let n = 0; n < 3; n++) await cluster.ask({ by: node, ...own })
    const { findings } = await cluster.finds('B14')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /3 undecided serving requests/)
    await later(cluster, 2 * minute)
    const report = await cluster.finds('C04')
    assert.deepEqual(ids(report), ['C04'], 'that nobody decides is the cause')
    assert.deepEqual(report.explained, [{ id: 'B14', by: 'C04', count: 1 }])
  }),
)

test(
  'C01: the first request of a node, with the binding of another group',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.admin.delete(resources.clusterRoleBindings, { name: 'kubeadm:node-autoapprove-bootstrap' })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'worker-3' })
    await later(cluster, 2 * minute)
    const report = await cluster.finds('C01')
    assert.deepEqual(ids(report), ['C01'])
    assert.ok(report.findings[0]?.objects.includes(`CertificateSigningRequest ${name}`))
  }),
)

test(
  'C02: a renewal that no role allows',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.admin.delete(resources.clusterRoleBindings, {
      name: 'kubeadm:node-autoapprove-certificate-rotation',
    })
    await cluster.ask({ by: await cluster.node('worker-1'), node: 'worker-1' })
    await later(cluster, 2 * minute)
    assert.deepEqual(ids(await cluster.finds('C02')), ['C02'])
  }),
)

test(
  'C03: nobody approves client requests',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.ask({ by: cluster.bootstrapper, node: 'worker-3' })
    assert.deepEqual(ids(await cluster.examine()), [], 'an approver is given time')
    await later(cluster, 2 * minute)
    assert.deepEqual(ids(await cluster.finds('C03')), ['C03'])
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
    assert.deepEqual(ids(await cluster.finds('C05')), ['C05'])
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
    const subjectAltName = { dnsNames: own.dns, ipAddresses: own.ips.map(ip) }
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
    assert.deepEqual(ids(await cluster.finds('C07')), ['C07'])
  }),
)

test(
  'C08: a serving request by a user that is not the node',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.grant('test', [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] },
    ])
    await cluster.ask({ by: await cluster.as('test', 'system:nodes'), ...own })
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
      await cluster.ask({ by: await cluster.node('worker-1'), ...own }),
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
    assert.deepEqual(ids(await cluster.finds('C10')), ['C10'])
  }),
)

test(
  'C16: a certificate for the name of another node, and for that of the API server',
  onQuietCluster(async cluster => {
    await cluster.start({ only: ['signing'] })
    await cluster.register('worker-1', [
      ['InternalIP', '10.0.0.11'],
      ['Hostname', 'worker-1'],
    ])
    await cluster.register('worker-2', [
      ['InternalIP', '10.0.0.12'],
      ['Hostname', 'worker-2'],
    ])
    const by = await cluster.node('worker-1')
    // As `xargs kubectl certificate approve` does.
    const stolen = await cluster.ask({
      by,
      node: 'worker-1',
      dns: ['worker-1'],
      ips: ['10.0.0.11', '10.0.0.12'],
    })
    await cluster.decide(stolen, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('C16')
    assert.match(JSON.stringify(findings), /IP 10.0.0.12 \(Node worker-2\)/)
    const name = await cluster.ask({ by, node: 'worker-1', dns: ['cluster.example'], ips: ['10.0.0.11'] })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    assert.match(
      JSON.stringify((await cluster.finds('C16')).findings),
      /DNS cluster.example \(the API server\)/,
    )
  }),
)

test(
  'C06: an approver that asks DNS',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const name = await cluster.ask({ by: await cluster.node('worker-1'), ...own })
    await cluster.decide(name, 'Denied', 'lookup worker-1 on 10.96.0.10:53: no such host')
    const report = await cluster.finds('C06')
    assert.deepEqual(report.explained, [{ id: 'C09', by: 'C06', count: 1 }])
  }),
)

test(
  'C11: the older of two requests is approved after the node gave it up',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    await cluster.start({ only: ['signing'] })
    const node = await cluster.node('worker-1')
    const old = await cluster.ask({ by: node, node: 'worker-1' })
    await later(cluster, 16 * minute)
    await cluster.ask({ by: node, node: 'worker-1' })
    assert.ok(!ids(await cluster.examine()).includes('C11'), 'nobody decided yet')
    await cluster.decide(old, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('C11')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^approved after 16m/)
  }),
)

test(
  'C14: an approver that may update approvals, and approve for no signer',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    // Nobody else may approve.
    for (const name of ['granted:rollcall', 'rollcall:controllers'])
      await cluster.admin.delete(resources.clusterRoleBindings, { name })
    const approval = {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
    }
    await cluster.grant('approver', [
      approval,
      { ...approval, resources: ['certificatesigningrequests'], verbs: ['get', 'list'] },
    ])
    const name = await cluster.ask({ by: await cluster.node('worker-1'), ...own })
    await later(cluster, 2 * minute)
    const csr = await cluster.read(name)
    const approved = { type: 'Approved', status: 'True' as const, reason: 'X' }
    const trying = (await cluster.as('approver')).update(
      resources.certificateSigningRequests,
      { ...csr, status: { conditions: [approved] } },
      { subresource: 'approval' },
    )
    await assert.rejects(trying, /not permitted to approve requests with signerName/)
    const report = await cluster.finds('C14')
    assert.deepEqual(report.findings[0]?.objects, ['User approver'])
    assert.deepEqual(report.explained, [{ id: 'C04', by: 'C14', count: 1 }])
  }),
)

test(
  'C15: an approver that decided is silent for a hundred nodes',
  onQuietCluster(async cluster => {
    await lonelyNode(cluster)
    const first = await cluster.ask({ by: await cluster.node('worker-1'), ...own })
    await cluster.decide(first, 'Approved', 'AutoApproved')
    await cluster.start({ only: ['signing'] })
    for (let n = 0; n < 101; n++) await cluster.ask({ by: cluster.bootstrapper, node: `new-${n}` })
    await later(cluster, 6 * minute)
    assert.ok(ids(await cluster.examine()).includes('C03'), 'nobody was seen to approve such requests')
    const client = await cluster.ask({ by: cluster.bootstrapper, node: 'new-200' })
    await cluster.decide(client, 'Approved', 'AutoApproved')
    const report = await cluster.finds('C15')
    assert.deepEqual(report.explained, [{ id: 'C03', by: 'C15', count: 101 }])
  }),
)

test(
  'G11: a node that was Ready a minute before its serving certificate',
  onFleet(async cluster => {
    await cluster.stopControllers()
    await cluster.start({ only: ['signing'] })
    await cluster.register('worker-3', [['InternalIP', '10.0.0.13']])
    await cluster.beat('worker-3')
    const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'worker-3' })
    const lastTransitionTime = node.metadata.creationTimestamp ?? ''
    const ready = {
      type: 'Ready',
      status: 'True' as const,
      reason: 'KubeletReady',
      message: '',
      lastTransitionTime,
    }
    const changed = { ...node, status: { ...node.status, conditions: [ready] } }
    await cluster.admin.update(resources.nodes, changed, { subresource: 'status' })
    const name = await cluster.ask({
      by: await cluster.node('worker-3'),
      node: 'worker-3',
      ips: ['10.0.0.13'],
    })
    await later(cluster, minute)
    for (const other of ['worker-2', 'worker-3']) await cluster.beat(other)
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('G11')
    assert.match(findings[0]?.evidence[1]?.value ?? '', /approved 60s later/)
    assert.equal(findings[0]?.severity, 'info')
  }),
)

test(
  'Z01: a fleet that joined together and does not renew',
  onFleet(async cluster => {
    for (let n = 3; n < 23; n++) await cluster.join(`worker-${n}`, `10.0.0.${10 + n}`)
    assert.deepEqual(ids(await cluster.examine()), [])
    await cluster.stopControllers()
    await later(cluster, 21.5 * 60 * minute)
    for (let n = 2; n < 23; n++) await cluster.beat(`worker-${n}`)
    const { findings } = await cluster.finds('Z01')
    assert.deepEqual(
      findings.map(({ evidence }) => /^of 22: 22 in the hour/.test(evidence[0]?.value ?? '')),
      [true, true],
    )
  }),
)

test(
  'the canary: issued, nobody approves, nobody signs, and SKIP without the right to act as it',
  onQuietCluster(async cluster => {
    const random = seededRandom(12)
    const asking = async (user: string, ...groups: string[]) => {
      const as = impersonating(await cluster.transportAs(user, ...groups), canaryUser, canaryGroup)
      return { canary: { asNode: createClient(as), random } }
    }
    const admin = await asking('admin', 'system:masters')
    /** The canary waits by the clock of the cluster. */
    const found = async (asked: Awaited<ReturnType<typeof asking>>) => {
      const examining = cluster.examine(asked)
      const over = examining.then(() => true)
      while (!(await Promise.race([over, calm().then(() => false)]))) await cluster.clock.advance(1000)
      return examining
    }
    assert.deepEqual(ids(await found(admin)), ['C03'])
    await cluster.start({ only: ['approval'] })
    assert.deepEqual(ids(await found(admin)), ['D01'])
    await cluster.start({ only: ['signing'] })
    assert.deepEqual(ids(await found(admin)), [])
    const { checks } = await found(await asking('nobody'))
    const skipped = checks.filter(({ status }) => status === 'SKIP').map(({ id }) => id)
    assert.deepEqual(skipped, ['C03', 'D01'])
  }),
)
