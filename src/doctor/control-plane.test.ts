/** How the control plane was started, what each of its servers presents, and what it calls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointSlices } from '../approve/reserved/cluster-objects.ts'
import { type KubeObject, resources } from '../kube/types.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { allChecks } from './all-checks.ts'
import type { CalledServer } from './artifacts/cluster-artifacts.ts'
import { diagnose } from './diagnose.ts'
import { type ExaminedCluster, judged, onFleet, serverCertificate } from './testing/examined-cluster.ts'

const good = [
  '--enable-bootstrap-token-auth=true',
  '--authorization-mode=Node,RBAC',
  '--kubelet-certificate-authority=/ca.crt',
]

/** kube-apiserver as the pod that kubeadm makes of it. */
async function apiServerPod(cluster: ExaminedCluster, ...changes: string[]): Promise<void> {
  const changed = new Set(changes.map(flag => flag.split('=')[0]))
  const flags = [
    ...good.filter(flag => !changed.has(flag.split('=')[0])),
    ...changes.filter(flag => flag.includes('=')),
  ]
  const pod: KubeObject & { spec: object } = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'kube-apiserver-cp-1', namespace: 'kube-system', labels: { tier: 'control-plane' } },
    spec: { containers: [{ name: 'kube-apiserver', image: 'x', command: ['kube-apiserver', ...flags] }] },
  }
  await cluster.admin.create(resources.pods, pod)
}

test(
  'a control plane in order gives no finding',
  onFleet(async cluster => {
    await apiServerPod(cluster)
    assert.deepEqual((await cluster.examine()).findings, [])
  }),
)

test(
  'A07: kube-apiserver takes no bootstrap tokens',
  onFleet(async cluster => {
    await apiServerPod(cluster, '--enable-bootstrap-token-auth')
    const { findings } = await cluster.finds('A07')
    assert.deepEqual(findings[0]?.objects, ['Pod kube-system/kube-apiserver-cp-1'])
  }),
)

test(
  'E20: kube-apiserver without the Node authorizer',
  onFleet(async cluster => {
    await apiServerPod(cluster, '--authorization-mode=RBAC')
    const { findings } = await cluster.finds('E20')
    assert.equal(findings[0]?.evidence[0]?.value, 'RBAC')
  }),
)

test(
  'G03: kube-apiserver takes whatever a kubelet presents',
  onFleet(async cluster => {
    await apiServerPod(cluster, '--kubelet-certificate-authority')
    await cluster.finds('G03')
  }),
)

/** Two API servers at addresses of their own. */
async function twoServers(cluster: ExaminedCluster): Promise<void> {
  const slice: KubeObject & object = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'kubernetes' },
    },
    ...{ addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }] },
    ...{ ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
  }
  await cluster.admin.create(endpointSlices, slice)
}

test(
  'A14: a proxy ends TLS before the API servers',
  onFleet(async cluster => {
    const proxy = await signingAuthority(cluster.clock.now(), 95)
    await twoServers(cluster)
    cluster.serves.at.set('10.0.0.1', cluster.serves.chain).set('10.0.0.2', cluster.serves.chain)
    const { clock } = cluster
    cluster.serves.chain = await serverCertificate({ ca: proxy, clock }, { dnsNames: ['cluster.example'] })
    const report = await cluster.finds('A14')
    assert.deepEqual(
      report.explained.map(({ id, by }) => `${id} by ${by}`),
      ['I01 by A14', 'I05 by A14'],
    )
  }),
)

test(
  'G09: an API server older than the fix, recorded',
  onFleet(async cluster => {
    const artifacts = await cluster.gather()
    const of = (version: string) =>
      cluster.judge({ ...artifacts, apiAnswer: { status: 'ok', value: { server: 'https://x', version } } })
    for (const version of ['v1.26.1', 'v1.25.16', 'v1.9.0+k3s1']) judged(of(version), 'G09')
    for (const version of ['v1.26.2', 'v1.27.0', 'v1.36.0-eks-1', 'v2.0.0', 'odd'])
      assert.deepEqual(of(version).findings, [], version)
  }),
)

test(
  'I12: one of two API servers has another CA',
  onFleet(async cluster => {
    const other = await signingAuthority(cluster.clock.now(), 91)
    await twoServers(cluster)
    cluster.serves.at.set('10.0.0.1', cluster.serves.chain).set('10.0.0.2', cluster.serves.chain)
    assert.deepEqual((await cluster.examine()).findings, [])
    const { clock } = cluster
    cluster.serves.at.set('10.0.0.2', await serverCertificate({ ca: other, clock }, { ips: ['10.0.0.2'] }))
    const { findings } = await cluster.finds('I12')
    assert.match(
      findings[0]?.evidence.map(({ source }) => source).join(' ') ?? '',
      /10\.0\.0\.1:6443.*10\.0\.0\.2:6443/,
    )
  }),
)

/** The embedded API has neither APIServices nor webhooks: what a cluster that has them would tell is put in its place. */
async function calling(cluster: ExaminedCluster, server: CalledServer) {
  const artifacts = await cluster.gather()
  const calledServers = { status: 'ok' as const, value: [server] }
  const report = diagnose('x', { ...artifacts, calledServers }, cluster.clock.now(), allChecks)
  return report.findings.map(({ id }) => id)
}

test(
  'I14: metrics-server is not available for want of trust, which is not so when its pod is gone',
  onFleet(async cluster => {
    const object = 'APIService v1beta1.metrics.k8s.io'
    const unavailable = 'FailedDiscoveryCheck: x509: certificate signed by unknown authority'
    assert.deepEqual(await calling(cluster, { object, unavailable }), ['I14'])
    assert.deepEqual(await calling(cluster, { object, unavailable: 'MissingEndpoints: none' }), [])
    assert.ok(allChecks.some(({ meta }) => meta.id === 'I14'))
  }),
)

test(
  'I15: a webhook whose bundle holds no CA in force',
  onFleet(async cluster => {
    const object = 'ValidatingWebhookConfiguration w, webhook w.example.com'
    const day = 86_400_000
    const now = cluster.clock.now()
    const ended = await serverCertificate(cluster, { notBefore: now - 9 * day, notAfter: now - day })
    assert.deepEqual(await calling(cluster, { object, caBundle: ended }), ['I15'])
    assert.deepEqual(await calling(cluster, { object, caBundle: ended + cluster.ca.pem }), [])
  }),
)
