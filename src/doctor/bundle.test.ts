import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RollcallError } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { type ConfigMap, type KubeEvent, type KubeNode, resources } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { allChecks } from './all-checks.ts'
import { decodeBundle, encodeBundle } from './bundle.ts'
import { diagnose } from './diagnose.ts'
import { type ExaminedCluster, onFleet, onQuietCluster } from './testing/examined-cluster.ts'

const token = 'abcdef.0123456789abcdef'
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl'
const key = generateSigner('ECDSA-P256', seededRandom(91)).exportPem().reveal()
const keyBody = key.split('\n')[1] ?? ''

/** Secrets in every place where a careless hand may have put them. */
async function plantSecrets({ admin }: ExaminedCluster): Promise<void> {
  const rootCa = { name: 'kube-root-ca.crt', namespace: 'default' }
  const { data = {} } = await admin.get<ConfigMap>(resources.configMaps, rootCa)
  await admin.patch(resources.configMaps, rootCa, 'merge', { data: { 'ca.crt': `${data['ca.crt']}${key}` } })
  const kubeconfig = `apiVersion: v1\nkind: Config\nclusters: [{name: k, cluster: {server: "https://cluster.example:6443"}}]\nusers: [{name: u, user: {token: ${token}}}]\n`
  const info = { name: 'cluster-info', namespace: 'kube-public' }
  await admin.patch(resources.configMaps, info, 'merge', { data: { kubeconfig } })
  const worker = await admin.get<KubeNode>(resources.nodes, { name: 'worker-1' })
  const annotations = { 'example.com/token': token, 'example.com/key': key }
  await admin.update(resources.nodes, { ...worker, metadata: { ...worker.metadata, annotations } })
  const ready = { type: 'Ready', status: 'False', message: `bearer ${jwt}`, reason: 'X' } as const
  const current = await admin.get<KubeNode>(resources.nodes, { name: 'worker-1' })
  await admin.update(
    resources.nodes,
    { ...current, status: { ...current.status, conditions: [ready] } },
    { subresource: 'status' },
  )
  await admin.create<KubeEvent>(resources.events, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'careless', namespace: 'default' },
    involvedObject: { kind: 'Node', name: 'worker-1' },
    type: 'Warning',
    reason: 'Unauthorized',
    message: `invalid bearer token ${token} ${key}`,
  })
}

test(
  'a bundle holds no key and no token',
  onFleet(async cluster => {
    await cluster.stopControllers()
    await plantSecrets(cluster)
    const text = encodeBundle('x', await cluster.gather(), cluster.clock.now())
    for (const secret of [token, '0123456789abcdef', jwt, keyBody, 'PRIVATE KEY']) {
      assert.ok(!text.includes(secret), `the bundle holds ${secret}`)
      assert.ok(
        !text.includes(Buffer.from(secret).toString('base64').slice(0, -4)),
        `the bundle holds ${secret} in base64`,
      )
    }
    assert.match(text, /invalid bearer \[secret\]/, 'the message is there, without the secret')
  }),
)

test(
  'a bundle is judged as the cluster was, whenever it is looked at',
  onQuietCluster(async cluster => {
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    await cluster.ask({ by: await cluster.node('worker-1'), node: 'worker-1', ips: ['10.0.0.11'] })
    cluster.clock.step(5 * 60_000)
    const live = await cluster.finds('C04')
    const text = encodeBundle(live.subject, await cluster.gather(), cluster.clock.now())
    const { subject, artifacts, gatheredAt } = decodeBundle(text)
    assert.deepEqual(diagnose(subject, artifacts, Date.parse(gatheredAt), allChecks), live)
  }),
)

test('what is no bundle is refused with a sentence', () => {
  for (const text of ['', '{}', '[1', 'null', '{"kind":"DoctorBundle","apiVersion":"rollcall.dev/v1alpha1"}'])
    assert.throws(() => decodeBundle(text), RollcallError)
})
