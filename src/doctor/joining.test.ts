import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RoleBinding, resources, type Secret } from '../kube/types.ts'
import { exitCodeOf } from './diagnose.ts'
import {
  type ExaminedCluster,
  onCluster,
  onFleet,
  onQuietCluster,
  serverCertificate,
} from './testing/examined-cluster.ts'

const hour = 3_600_000
const tokenName = { name: 'bootstrap-token-abcdef', namespace: 'kube-system' }

/** Changes the cluster's bootstrap token. */
async function spoil({ admin }: ExaminedCluster, data: Record<string, string | null>): Promise<void> {
  const encoded = Object.entries(data).map(([key, value]) => [
    key,
    value === null ? null : Buffer.from(value).toString('base64'),
  ])
  await admin.patch<Secret>(resources.secrets, tokenName, 'merge', { data: Object.fromEntries(encoded) })
}

test(
  'A01: an expired bootstrap token',
  onQuietCluster(async cluster => {
    await spoil(cluster, { expiration: '2026-03-01T11:00:00Z' })
    const [finding] = (await cluster.finds('A01')).findings
    assert.match(finding?.evidence[0]?.value ?? '', /expiration 2026-03-01T11:00:00Z, 60m ago/)
    assert.match(finding?.fix[0]?.run ?? '', /token create/)
  }),
)

test(
  'A01: an expiration that cannot be read counts as expired',
  onQuietCluster(async cluster => {
    await spoil(cluster, { expiration: 'tomorrow' })
    await cluster.finds('A01')
  }),
)

test(
  'A03: a token whose id is not that of its Secret',
  onQuietCluster(async cluster => {
    await spoil(cluster, { 'token-id': 'ghijkl' })
    await cluster.finds('A03')
  }),
)

test(
  'A04: a token that may not authenticate',
  onQuietCluster(async cluster => {
    await spoil(cluster, { 'usage-bootstrap-authentication': 'false' })
    await cluster.finds('A04')
  }),
)

test(
  'A05: a token whose Secret has the wrong type',
  onQuietCluster(async cluster => {
    const { data } = await cluster.admin.get<Secret>(resources.secrets, tokenName)
    await cluster.admin.create<Secret>(resources.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-ghijkl', namespace: 'kube-system' },
      type: 'Opaque',
      data: { ...data, 'token-id': Buffer.from('ghijkl').toString('base64') },
    })
    const { findings } = await cluster.finds('A05')
    assert.deepEqual(
      findings.filter(({ id }) => id === 'A05').map(({ objects }) => objects),
      [['Secret kube-system/bootstrap-token-ghijkl']],
    )
  }),
)

test(
  'A06: a token with a group that it may not have',
  onQuietCluster(async cluster => {
    await spoil(cluster, { 'auth-extra-groups': 'system:masters' })
    await cluster.finds('A06')
  }),
)

test(
  'A08: cluster-info that nobody signs',
  onCluster(async cluster => {
    await cluster.start({ only: ['root-ca-publishing'] })
    await cluster.finds('A08')
  }),
)

test(
  'A13: a serving certificate of the API without the name that is dialled',
  onFleet(async cluster => {
    cluster.serves.chain = await serverCertificate(cluster, { dnsNames: ['kubernetes', 'other.example'] })
    const [finding] = (await cluster.finds('A13')).findings
    assert.match(finding?.cause ?? '', /valid for kubernetes, other.example, not cluster.example/)
  }),
)

test(
  'A20: a serving certificate of the API that ends, and then has ended',
  onFleet(async cluster => {
    const notAfter = cluster.clock.now() + hour
    const notBefore = notAfter - 100 * hour
    cluster.serves.chain = await serverCertificate(cluster, {
      dnsNames: ['cluster.example'],
      notBefore,
      notAfter,
    })
    assert.equal((await cluster.finds('A20')).findings[0]?.severity, 'warning')
    cluster.clock.step(2 * hour)
    for (const name of ['worker-1', 'worker-2']) await cluster.beat(name)
    assert.equal((await cluster.finds('A20')).findings[0]?.severity, 'critical')
  }),
)

test(
  'B01, C01, C02: report 36, report 38: bindings of kubeadm that are missing',
  onFleet(async cluster => {
    const remove = (name: string) => cluster.admin.delete(resources.clusterRoleBindings, { name })
    await remove('kubeadm:kubelet-bootstrap')
    const report = await cluster.finds('B01')
    assert.deepEqual(
      report.findings.map(({ id }) => id),
      ['B01'],
    )
    assert.match(
      report.findings[0]?.fix[0]?.run ?? '',
      /clusterrolebinding kubeadm:kubelet-bootstrap .*default-node-token$/,
    )
    assert.equal(exitCodeOf(report), 3)
    await remove('kubeadm:node-autoapprove-bootstrap')
    await cluster.finds('C01', ['B01'])
    await remove('kubeadm:node-autoapprove-certificate-rotation')
    await cluster.finds('C02', ['B01', 'C01'])
  }),
)

test(
  'a command that the doctor prints mends what it found',
  onFleet(async cluster => {
    const name = 'kubeadm:node-autoapprove-bootstrap'
    await cluster.admin.delete(resources.clusterRoleBindings, { name })
    const [finding] = (await cluster.finds('C01')).findings
    const flags = /--clusterrole=(\S+) --group=(\S+)$/.exec(finding?.fix[0]?.run ?? '')
    await cluster.admin.create<RoleBinding>(resources.clusterRoleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: flags?.[1] ?? '' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: flags?.[2] ?? '' }],
    })
    assert.deepEqual((await cluster.examine()).findings, [])
  }),
)

test(
  'a cluster that is not joined by tokens is not asked for their bindings',
  onFleet(async cluster => {
    await cluster.admin.delete(resources.configMaps, { name: 'cluster-info', namespace: 'kube-public' })
    await cluster.admin.delete(resources.clusterRoleBindings, { name: 'kubeadm:kubelet-bootstrap' })
    assert.deepEqual((await cluster.examine()).findings, [])
  }),
)
