/** While a CA is changed, and after it was. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenIssuer } from '../apiserver/access/authentication/service-account/token-issuer.ts'
import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { generateSigner } from '../keys/private-key.ts'
import { createClient, isStatus } from '../kube/client.ts'
import { type CARotationObject, caRotation, type RotationPhase } from '../kube/rollcall/ca-rotation.ts'
import { formatMicroTime } from '../kube/time-format.ts'
import { type ConfigMap, type KubeObject, type Lease, resources, type Secret } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import {
  type ExaminedCluster,
  judged,
  onFleet,
  onQuietCluster,
  serverCertificate,
} from './testing/examined-cluster.ts'

const minute = 60_000

async function publish(cluster: ExaminedCluster, pem: string): Promise<void> {
  await cluster.stopControllers()
  const { items } = await cluster.admin.list(resources.namespaces)
  for (const { metadata } of items) {
    const target = { name: 'kube-root-ca.crt', namespace: metadata.name }
    await cluster.admin.patch<ConfigMap>(resources.configMaps, target, 'merge', { data: { 'ca.crt': pem } })
  }
}

const clientTrust = (pem: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
  data: { 'client-ca-file': pem },
})

/** A CARotation of the client CA as its orchestrator left it. */
async function rotation(
  { admin }: ExaminedCluster,
  phase: RotationPhase,
  paused?: { since: number; reason: string },
): Promise<void> {
  const created = await admin.create<CARotationObject>(caRotation.ref, {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'CARotation',
    metadata: { name: 'client-2' },
    spec: { role: 'client', reason: 'Scheduled', from: 1, to: 2, author: 'admin' },
  })
  const status = { phase: paused ? ('Paused' as const) : phase, state: { phase, ...(paused && { paused }) } }
  await admin.update(caRotation.ref, { ...created, status }, { subresource: 'status' })
}

/** The Lease of Rollcall's controllers, renewed now. */
function holdLease({ admin, clock }: ExaminedCluster): Promise<Lease> {
  return admin.create<Lease>(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'rollcall-controller', namespace: 'kube-system' },
    spec: { holderIdentity: 'cp-1', leaseDurationSeconds: 15, renewTime: formatMicroTime(clock.now()) },
  })
}

test(
  'I04: a pod that is older than the newest CA; critical once the API presents what it may not know',
  onFleet(async cluster => {
    const { admin, clock } = cluster
    const pod: KubeObject & { spec: object } = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'old', namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    }
    const created = await admin.create(resources.pods, pod)
    const startTime = new Date(clock.now() - 7 * 86_400_000).toISOString().replace('.000', '')
    const status = { phase: 'Running', startTime }
    await admin.update<KubeObject & { status: object }>(
      resources.pods,
      { ...created, status },
      { subresource: 'status' },
    )
    assert.deepEqual((await cluster.examine()).findings, [], 'there is one CA, which it knows')
    // Made three days ago.
    const next = await signingAuthority(clock.now() + 362 * 86_400_000, 33)
    await publish(cluster, cluster.ca.pem + next.pem)
    const { findings } = await cluster.finds('I04')
    assert.equal(findings[0]?.severity, 'warning')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /^1 pods, e\.g\. old since/)
    cluster.serves.chain = await serverCertificate({ ca: next, clock }, { dnsNames: ['cluster.example'] })
    const { findings: switched } = await cluster.finds('I04', ['I05'])
    assert.equal(switched.find(({ id }) => id === 'I04')?.severity, 'critical')
  }),
)

test(
  'I06: a rotation dropped the client CA by which nodes hold certificates',
  onFleet(async cluster => {
    const next = await signingAuthority(cluster.clock.now(), 34)
    const { metadata } = await cluster.admin.create(
      resources.configMaps,
      clientTrust(cluster.ca.pem + next.pem),
    )
    await rotation(cluster, 'Done')
    assert.deepEqual((await cluster.examine()).findings, [], 'both are trusted')
    await cluster.admin.update(resources.configMaps, { ...clientTrust(next.pem), metadata })
    const report = await cluster.finds('I06')
    assert.match(report.findings[0]?.cause ?? '', /certificates of 2 nodes/)
    assert.deepEqual(report.explained, [{ id: 'E14', by: 'I06', count: 2 }])
  }),
)

test(
  'I07: a node that is silent while a CA is changed',
  onFleet(async cluster => {
    await cluster.stopControllers()
    await rotation(cluster, 'Proving')
    cluster.clock.step(2 * minute - 1)
    await holdLease(cluster)
    await cluster.beat('worker-1')
    const report = await cluster.finds('I07')
    assert.deepEqual(report.findings[0]?.objects, ['Node worker-2'])
    assert.deepEqual(report.explained, [{ id: 'Z07', by: 'I07', count: 1 }])
  }),
)

test(
  'I08: a rotation that somebody paused and forgot',
  onQuietCluster(async cluster => {
    const { clock } = cluster
    await rotation(cluster, 'Distributing', { since: clock.now(), reason: 'asked for' })
    assert.deepEqual((await cluster.examine()).findings, [], 'a pause is no fault')
    clock.step(61 * minute)
    const { findings } = await cluster.finds('I08')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /client, in Distributing, paused 61m ago: asked for/)
  }),
)

test(
  'I08: a paused pool of OpenShift, recorded',
  onQuietCluster(async cluster => {
    const pool = { name: 'worker', wanted: 'rendered-worker-2', current: 'rendered-worker-1' }
    const pausedPools = { status: 'ok' as const, value: [pool] }
    judged(cluster.judge({ ...(await cluster.gather()), pausedPools }), 'I08')
  }),
)

test(
  'I13: each CA stands where the other belongs',
  onFleet(async cluster => {
    const { clock } = cluster
    const servers = await signingAuthority(clock.now(), 35)
    cluster.serves.chain = await serverCertificate({ ca: servers, clock }, { dnsNames: ['cluster.example'] })
    await cluster.admin.create(resources.configMaps, clientTrust(servers.pem))
    const report = await cluster.finds('I13')
    assert.deepEqual(
      report.explained.map(({ id, by }) => `${id} by ${by}`),
      ['E14 by I13', 'I01 by I13', 'I05 by I13'],
    )
  }),
)

test(
  'I16: a rotation whose orchestrator is gone',
  onQuietCluster(async cluster => {
    await rotation(cluster, 'Reissuing')
    await holdLease(cluster)
    assert.deepEqual((await cluster.examine()).findings, [])
    cluster.clock.step(3 * minute)
    await cluster.finds('I16', ['D02'])
    const lease = (spec: object) =>
      cluster.admin.patch(
        resources.leases,
        { name: 'rollcall-controller', namespace: 'kube-system' },
        'merge',
        { spec },
      )
    await lease({ holderIdentity: '' })
    const { findings } = await cluster.finds('I16')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /client, in Reissuing, begun 3m ago/)
    await lease({ holderIdentity: 'cp-2', renewTime: formatMicroTime(cluster.clock.now()) })
    assert.deepEqual((await cluster.examine()).findings, [], 'another one took over')
  }),
)

test(
  'I17: a token of a key that the API has given up, which it refuses',
  onQuietCluster(async cluster => {
    const { admin, clock } = cluster
    const former = createTokenIssuer({ signer: generateSigner('ECDSA-P256', seededRandom(36)) })
    const now = Math.floor(clock.now() / 1000)
    const token = await former.sign({
      iss: former.issuer,
      sub: 'system:serviceaccount:default:default',
      aud: [former.issuer],
      iat: now,
      nbf: now,
      jti: 'a',
      'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'default', uid: 'u' } },
      exp: now + 3600,
    })
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'ci-token',
        namespace: 'default',
        annotations: { 'kubernetes.io/service-account.name': 'default' },
      },
      type: 'kubernetes.io/service-account-token',
      data: { token: Buffer.from(token).toString('base64') },
    }
    await admin.create(resources.secrets, secret)
    const authorization = `Bearer ${token}`
    const pod = createClient(
      inProcessTransport(cluster.api, { remoteAddress: '127.0.0.1' }, { authorization }),
    )
    await assert.rejects(pod.list(resources.nodes), (error: unknown) => isStatus(error, 'Unauthorized'))
    const { findings } = await cluster.finds('I17')
    assert.match(findings[0]?.cause ?? '', /^1 of 1 token Secrets/)
    assert.ok(!JSON.stringify(await cluster.gather()).includes(token.slice(0, 40)), 'no token is kept')
  }),
)
