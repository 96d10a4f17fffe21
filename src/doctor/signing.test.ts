import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { generateSigner } from '../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import { formatMicroTime } from '../kube/time-format.ts'
import {
  type CertificateSigningRequest,
  type KubeNode,
  type Lease,
  resources,
  signerNames,
} from '../kube/types.ts'
import { authorityOf } from '../sign/authority.ts'
import { calm } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { type ExaminedCluster, onCluster, onFleet, onQuietCluster } from './testing/examined-cluster.ts'

const minute = 60_000
const day = 86_400_000

async function approvedRequest(cluster: ExaminedCluster): Promise<string> {
  await cluster.register('worker-1', [
    ['InternalIP', '10.0.0.11'],
    ['Hostname', 'worker-1'],
  ])
  const name = await cluster.ask({
    by: await cluster.node('worker-1'),
    node: 'worker-1',
    dns: ['worker-1'],
    ips: ['10.0.0.11'],
  })
  await cluster.decide(name, 'Approved', 'KubectlApprove')
  return name
}

async function leaseOf(cluster: ExaminedCluster, name: string, renewedAt: number): Promise<void> {
  await cluster.admin.create<Lease>(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-system' },
    spec: { holderIdentity: 'cp-1', leaseDurationSeconds: 15, renewTime: formatMicroTime(renewedAt) },
  })
}

test(
  'D01: approved and never signed',
  onQuietCluster(async cluster => {
    await approvedRequest(cluster)
    await leaseOf(cluster, 'kube-controller-manager', cluster.clock.now() + 2 * minute)
    assert.deepEqual((await cluster.examine()).findings, [], 'a signer is given time')
    cluster.clock.step(2 * minute)
    const { findings } = await cluster.finds('D01')
    assert.match(findings[0]?.cause ?? '', /No signer for kubernetes.io\/kubelet-serving signs/)
  }),
)

test(
  'D02: the controllers have stopped, which explains what waits for them',
  onQuietCluster(async cluster => {
    await approvedRequest(cluster)
    await cluster.ask({ by: cluster.bootstrapper, node: 'worker-3' })
    await leaseOf(cluster, 'kube-controller-manager', cluster.clock.now())
    cluster.clock.step(5 * minute)
    const report = await cluster.finds('D02')
    assert.deepEqual(report.explained.map(({ id, by }) => `${id} by ${by}`).sort(), [
      'C03 by D02',
      'D01 by D02',
    ])
  }),
)

test(
  'D02: one of two controllers that runs is enough',
  onCluster(async cluster => {
    await cluster.start({ only: ['root-ca-publishing', 'bootstrap-signing'] })
    await leaseOf(cluster, 'kube-controller-manager', cluster.clock.now() - 5 * minute)
    await leaseOf(cluster, 'rollcall-controller', cluster.clock.now())
    assert.deepEqual((await cluster.examine()).findings, [])
  }),
)

test(
  'D03: the CA that should sign has expired',
  onCluster(async cluster => {
    const now = cluster.clock.now()
    const signer = generateSigner('Ed25519', seededRandom(31))
    const random = seededRandom(32)
    const rootCertificates = await selfSignedCa({
      commonName: 'old',
      signer,
      notBefore: now - 10 * day,
      notAfter: now - day,
      random,
    })
    const authority = { certificate: rootCertificates, signer }
    await cluster.start({
      only: ['root-ca-publishing', 'bootstrap-signing', 'signing'],
      rootCertificates,
      signers: { [signerNames.kubeletServing]: authority },
    })
    await calm()
    await approvedRequest(cluster)
    cluster.clock.step(2 * minute)
    await cluster.finds('D03')
  }),
)

test(
  'D06: a request that the signer refuses',
  onQuietCluster(async cluster => {
    await cluster.start({ only: ['signing'] })
    const by = await cluster.node('worker-1')
    const name = await cluster.ask({ by, node: 'worker-1', organizations: ['my-org', 'system:nodes'] })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    const { findings } = await cluster.finds('D06')
    assert.match(findings[0]?.cause ?? '', /subject organization is not system:nodes/)
  }),
)

test(
  'D07: a CA that ends before what it issues',
  onQuietCluster(async cluster => {
    const now = cluster.clock.now()
    const signer = generateSigner('Ed25519', seededRandom(31))
    const times = { notBefore: now - day, notAfter: now + 30 * day }
    const pem = await selfSignedCa({ commonName: 'short', signer, ...times, random: seededRandom(32) })
    const { certificate } = authorityOf(pem, signer)
    await publish(cluster, pem)
    const leaf = await issueCertificate({
      ca: { certificate, signer },
      subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
      spki: signer.publicKey,
      notBefore: now,
      notAfter: times.notAfter,
      random: seededRandom(33),
      extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.serverAuth] },
    })
    await write(cluster, await approvedRequest(cluster), leaf)
    await cluster.finds('D07', ['G06'])
  }),
)

test(
  'D08: a cap below what was asked for',
  onFleet(async cluster => {
    const signer = generateSigner('Ed25519', seededRandom(34))
    const pem = await signedRequest({ signer, commonName: 'system:node:worker-1' })
    const by = await cluster.node('worker-1')
    await by.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'long' },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: signerNames.kubeletClient,
        usages: ['digital signature', 'client auth'],
        expirationSeconds: 30 * 86_400,
      },
    })
    await calm()
    const { findings } = await cluster.finds('D08')
    assert.deepEqual(
      findings[0]?.evidence.map(({ value }) => value),
      ['asked for 30d', 'got 24h'],
    )
  }),
)

test(
  'D11: a CA that was made anew under the old name',
  onQuietCluster(async cluster => {
    const now = cluster.clock.now()
    const signer = generateSigner('Ed25519', seededRandom(35))
    const times = { notBefore: now - day, notAfter: now + 3650 * day }
    const certificate = await selfSignedCa({
      commonName: 'kubernetes',
      signer,
      ...times,
      random: seededRandom(36),
    })
    await cluster.start({
      only: ['signing'],
      signers: { [signerNames.kubeletServing]: { certificate, signer } },
    })
    await approvedRequest(cluster)
    const { findings } = await cluster.finds('D11')
    assert.equal(findings[0]?.cause, 'Two CAs are called CN=kubernetes.')
  }),
)

test(
  'D13: a certificate for a weak key',
  onQuietCluster(async cluster => {
    const leaf = await issueCertificate({
      ca: cluster.ca,
      subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
      spki: rsa1024(),
      notBefore: cluster.clock.now(),
      notAfter: cluster.clock.now() + day,
      random: seededRandom(33),
      extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] },
    })
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    const name = await cluster.ask({ by: await cluster.node('worker-1'), node: 'worker-1' })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    await write(cluster, name, leaf)
    await cluster.finds('D13')
  }),
)

function rsa1024(): Uint8Array {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  return new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }))
}

/** Writes a certificate as a signer does. */
async function write(cluster: ExaminedCluster, name: string, pem: string): Promise<void> {
  const csr = await cluster.read(name)
  const status = { ...csr.status, certificate: Buffer.from(pem).toString('base64') }
  await cluster.admin.update<CertificateSigningRequest>(
    resources.certificateSigningRequests,
    { ...csr, status },
    { subresource: 'status' },
  )
}

/** Puts the CA beside the other one in every kube-root-ca.crt. */
async function publish(cluster: ExaminedCluster, pem: string): Promise<void> {
  await cluster.stopControllers()
  const { items } = await cluster.admin.list(resources.configMaps, {
    fieldSelector: 'metadata.name=kube-root-ca.crt',
  })
  for (const { metadata } of items) {
    const target = { name: metadata.name, namespace: metadata.namespace ?? '' }
    await cluster.admin.patch(resources.configMaps, target, 'merge', {
      data: { 'ca.crt': cluster.ca.pem + pem },
    })
  }
}

test(
  'D09: Amazon EKS signs no client certificates',
  onQuietCluster(async cluster => {
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'worker-1' })
    const nodeInfo = {
      ...Object.fromEntries(infoFields.map(field => [field, ''])),
      kubeletVersion: 'v1.30.4-eks-a737599',
    }
    const changed = { ...node, status: { ...node.status, nodeInfo } }
    await cluster.admin.update(resources.nodes, changed, { subresource: 'status' })
    const name = await cluster.ask({ by: await cluster.node('worker-1'), node: 'worker-1' })
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    cluster.clock.step(2 * minute)
    await cluster.beat('worker-1')
    const report = await cluster.finds('D09')
    assert.deepEqual(report.explained, [{ id: 'D01', by: 'D09', count: 1 }])
  }),
)

test(
  'B15: a kubelet of before certificates.k8s.io/v1',
  onFleet(async cluster => {
    const node = await cluster.admin.get<KubeNode>(resources.nodes, { name: 'worker-1' })
    const nodeInfo = {
      ...Object.fromEntries(infoFields.map(field => [field, ''])),
      kubeletVersion: 'v1.18.20',
    }
    const changed = { ...node, status: { ...node.status, nodeInfo } }
    await cluster.admin.update(resources.nodes, changed, { subresource: 'status' })
    await cluster.finds('B15')
  }),
)

test(
  'D10: the token that holds the signing key is gone',
  onQuietCluster(async cluster => {
    const problem = 'no token "ca" in any slot of the PKCS#11 module (CKR_TOKEN_NOT_PRESENT)'
    const away = { current: () => undefined, problem: () => problem, onChange: () => () => {} }
    await cluster.start({ only: ['signing'], signers: { [signerNames.kubeletServing]: away } })
    await approvedRequest(cluster)
    await calm()
    cluster.clock.step(2 * minute)
    await cluster.beat('worker-1')
    const report = await cluster.finds('D10')
    assert.match(report.findings[0]?.evidence[0]?.value ?? '', /CKR_TOKEN_NOT_PRESENT/)
    assert.deepEqual(report.explained, [{ id: 'D01', by: 'D10', count: 1 }])
  }),
)

test(
  'D12: two signers with different CAs take turns; a CA that was changed once is none',
  onQuietCluster(async cluster => {
    const now = cluster.clock.now()
    const signer = generateSigner('Ed25519', seededRandom(38))
    const times = { notBefore: now - day, notAfter: now + 3650 * day }
    const pem = await selfSignedCa({ commonName: 'other', signer, ...times, random: seededRandom(39) })
    await publish(cluster, pem)
    const other = authorityOf(pem, signer)
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    for (const [turn, ca] of [cluster.ca, other, cluster.ca].entries()) {
      if (turn === 2) assert.deepEqual((await cluster.examine()).findings, [])
      const leaf = await issueCertificate({
        ca,
        subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
        spki: signer.publicKey,
        notBefore: now + turn * 1000,
        notAfter: now + day,
        random: seededRandom(33),
        extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] },
      })
      const name = await cluster.ask({ by: await cluster.node('worker-1'), node: 'worker-1' })
      await cluster.decide(name, 'Approved', 'KubectlApprove')
      cluster.clock.step(1000)
      await write(cluster, name, leaf)
    }
    await cluster.finds('D12')
  }),
)

const infoFields = [
  'machineID',
  'systemUUID',
  'bootID',
  'kernelVersion',
  'osImage',
  'containerRuntimeVersion',
  'kubeletVersion',
  'kubeProxyVersion',
  'operatingSystem',
  'architecture',
]
