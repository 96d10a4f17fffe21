import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { type ExaminedCluster, onFleet, serverCertificate } from './testing/examined-cluster.ts'

const day = 86_400_000

function otherCa(cluster: ExaminedCluster, notAfter = cluster.clock.now() + 3650 * day): Promise<string> {
  const signer = generateSigner('Ed25519', seededRandom(61))
  const notBefore = Math.min(cluster.clock.now(), notAfter) - 365 * day
  return selfSignedCa({ commonName: 'other', signer, notBefore, notAfter, random: seededRandom(62) })
}

/** Writes kube-root-ca.crt of a namespace, or of all, behind the back of its controller. */
async function publish(cluster: ExaminedCluster, pem: string, only?: string): Promise<void> {
  await cluster.stopControllers()
  const { items } = await cluster.admin.list(resources.namespaces)
  for (const namespace of only ? [only] : items.map(({ metadata }) => metadata.name)) {
    await cluster.admin.patch<ConfigMap>(
      resources.configMaps,
      { name: 'kube-root-ca.crt', namespace },
      'merge',
      {
        data: { 'ca.crt': pem },
      },
    )
  }
}

async function clusterInfo(cluster: ExaminedCluster, server: string, pem: string): Promise<void> {
  const data = Buffer.from(pem).toString('base64')
  const kubeconfig = `apiVersion: v1\nkind: Config\nclusters:\n- name: ""\n  cluster:\n    server: ${server}\n    certificate-authority-data: ${data}\n`
  const target = { name: 'cluster-info', namespace: 'kube-public' }
  await cluster.admin.patch<ConfigMap>(resources.configMaps, target, 'merge', { data: { kubeconfig } })
}

test(
  'I03: a namespace without kube-root-ca.crt, and one with another',
  onFleet(async cluster => {
    await cluster.stopControllers()
    await cluster.admin.delete(resources.configMaps, { name: 'kube-root-ca.crt', namespace: 'default' })
    const missing = await cluster.finds('I03')
    assert.deepEqual(missing.findings[0]?.objects, ['ConfigMap default/kube-root-ca.crt'])
    await publish(cluster, await otherCa(cluster), 'kube-public')
    const { findings } = await cluster.finds('I03')
    assert.deepEqual(
      findings.map(({ objects }) => objects[0]),
      ['ConfigMap default/kube-root-ca.crt', 'ConfigMap kube-public/kube-root-ca.crt'],
    )
  }),
)

test(
  'I05: cluster-info with a CA that the API server does not chain to',
  onFleet(async cluster => {
    await clusterInfo(cluster, 'https://cluster.example:6443', cluster.ca.pem)
    assert.deepEqual((await cluster.examine()).findings, [])
    await clusterInfo(cluster, 'https://cluster.example:6443', await otherCa(cluster))
    await cluster.finds('I05')
  }),
)

test(
  'I05: cluster-info with a kubeconfig that nobody can read',
  onFleet(async cluster => {
    await cluster.stopControllers()
    for (const kubeconfig of ['\u0000 : [ }', 'clusters: []', 'clusters: [{cluster: {}}]']) {
      const target = { name: 'cluster-info', namespace: 'kube-public' }
      await cluster.admin.patch<ConfigMap>(resources.configMaps, target, 'merge', { data: { kubeconfig } })
      const { findings } = await cluster.finds('I05')
      assert.match(findings[0]?.evidence[0]?.value ?? '', /^its kubeconfig names no (cluster|server)$/)
    }
  }),
)

test(
  'A13: a name in cluster-info that the API server is not certified for',
  onFleet(async cluster => {
    await clusterInfo(cluster, 'https://lb.example:6443', cluster.ca.pem)
    const { findings } = await cluster.finds('A13')
    assert.match(findings[0]?.cause ?? '', /not lb.example$/)
  }),
)

test(
  'I09: a bundle with a leaf, and with an expired CA',
  onFleet(async cluster => {
    await publish(cluster, cluster.ca.pem + (await otherCa(cluster, cluster.clock.now() - day)))
    assert.equal((await cluster.finds('I09')).findings[0]?.severity, 'warning')
    await publish(cluster, cluster.ca.pem + (await serverCertificate(cluster, {})))
    const { findings } = await cluster.finds('I09')
    assert.equal(findings[0]?.severity, 'critical')
    assert.match(findings[0]?.evidence[0]?.value ?? '', /CN=kube-apiserver is no CA/)
  }),
)

test(
  'I11: a CA that ends within weeks; not where its successor is published',
  onFleet(async cluster => {
    await publish(cluster, await otherCa(cluster, cluster.clock.now() + 20 * day))
    // What the API server presents is of another CA than this one, which is another fault.
    const { findings } = await cluster.finds('I11', ['I01'])
    assert.equal(findings.find(({ id }) => id === 'I11')?.severity, 'critical')
    await publish(cluster, (await otherCa(cluster, cluster.clock.now() + 20 * day)) + cluster.ca.pem)
    assert.deepEqual((await cluster.examine()).findings, [])
  }),
)

test(
  'I11: a CA that ends soon does not hide a node that is off',
  onFleet(async cluster => {
    await publish(cluster, await otherCa(cluster, cluster.clock.now() + 20 * day))
    cluster.clock.step(60_000)
    await cluster.beat('worker-1')
    await cluster.finds('I11', ['I01'])
  }),
)

test(
  'Z05: our own certificate ends',
  onFleet(async cluster => {
    const now = cluster.clock.now()
    const ownCertificate = await serverCertificate(cluster, {
      notBefore: now - 99 * day,
      notAfter: now + day,
    })
    await cluster.finds('Z05', [], { ownCertificate })
  }),
)

test(
  'I01: the API server presents a CA that nobody was given',
  onFleet(async cluster => {
    const next = await signingAuthority(cluster.clock.now(), 92)
    const { clock } = cluster
    cluster.serves.chain = await serverCertificate({ ca: next, clock }, { dnsNames: ['cluster.example'] })
    const report = await cluster.finds('I01')
    assert.equal(report.findings[0]?.severity, 'critical')
    await publish(cluster, cluster.ca.pem + next.pem)
    assert.ok(!(await cluster.examine()).findings.some(({ id }) => id === 'I01'), 'once it is published')
  }),
)

test(
  'I18: our kubeconfig is of the CA before',
  onFleet(async cluster => {
    const before = await signingAuthority(cluster.clock.now(), 93)
    await cluster.admin.create<ConfigMap>(resources.configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
      data: { 'client-ca-file': before.pem + cluster.ca.pem },
    })
    const { clock } = cluster
    const notBefore = clock.now() - 9 * day
    const old = await serverCertificate({ ca: before, clock }, { commonName: 'kubernetes-admin', notBefore })
    await cluster.finds('I18', [], { ownCertificate: old })
    const own = await serverCertificate(cluster, { commonName: 'kubernetes-admin', notBefore })
    assert.deepEqual((await cluster.examine({ ownCertificate: own })).findings, [])
  }),
)

test(
  'I10: a bundle out of an editor',
  onFleet(async cluster => {
    await publish(cluster, `\uFEFF# our CA\r\n${cluster.ca.pem}`)
    const { findings } = await cluster.finds('I10')
    assert.deepEqual(findings[0]?.evidence.map(({ value }) => value).slice(0, 3), [
      'it begins with a byte order mark',
      'it has carriage returns',
      'there is text beside the PEM blocks',
    ])
  }),
)
