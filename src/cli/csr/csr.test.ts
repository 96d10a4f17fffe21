import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import type { KubeClient } from '../../kube/client.ts'
import { csrCondition } from '../../kube/csr-conditions.ts'
import type { CertificatePolicy } from '../../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../../kube/rollcall/certificate-policy.ts'
import { formatMicroTime, formatTime } from '../../kube/time-format.ts'
import {
  type CertificateSigningRequest,
  type KubeNode,
  type Lease,
  resources,
  signerNames,
} from '../../kube/types.ts'
import { runCommand } from '../../testing/command-run.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../testing/embedded-cluster.ts'
import { ip, nodeNamed } from '../../testing/judged-request.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { signedRequest } from '../../testing/signed-request.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { register as registerNodes } from '../nodes.ts'
import { register as registerStatus } from '../status.ts'
import { register as registerCsr } from './csr.ts'

const csrs = resources.certificateSigningRequests
const key = generateSigner('Ed25519', seededRandom(5))
let cluster: EmbeddedCluster
let kubelet: KubeClient

before(async () => {
  cluster = await startEmbeddedCluster()
  kubelet = await cluster.node('worker-1')
  const addresses = { 'worker-1': 'Hostname', '10.0.0.11': 'InternalIP' }
  const node = await cluster.admin.create<KubeNode>(resources.nodes, nodeNamed('worker-1', addresses))
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' } as const
  const status = { ...nodeNamed('worker-1', addresses).status, conditions: [ready] }
  await cluster.admin.update(resources.nodes, { ...node, status }, { subresource: 'status' })
  await cluster.admin.create<CertificatePolicy>(certificatePolicies, {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'CertificatePolicy',
    metadata: { name: 'default' },
    spec: { preset: 'lab' },
  })
})
after(() => cluster.close())

const csr = (...words: string[]) => runCommand(registerCsr, cluster.admin, cluster.clock, 'csr', ...words)
const read = (name: string) => cluster.admin.get<CertificateSigningRequest>(csrs, { name })

async function ask(
  name: string,
  {
    dnsNames = ['worker-1'],
    addresses = ['10.0.0.11'],
    by = kubelet,
    signerName = signerNames.kubeletServing as string,
  } = {},
): Promise<void> {
  const serving = signerName === signerNames.kubeletServing
  const subjectAltName = serving ? { dnsNames, ipAddresses: addresses.map(ip) } : {}
  const pem = await signedRequest({ signer: key, commonName: 'system:node:worker-1', subjectAltName })
  await by.create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages: ['digital signature', serving ? 'server auth' : 'client auth'],
    },
  })
}

async function sign(name: string, notAfter: number, spki = key.publicKey): Promise<void> {
  const pem = await issueCertificate({
    ca: cluster.ca,
    subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
    spki,
    notBefore: cluster.clock.now() - 60_000,
    notAfter,
    random: seededRandom(9),
    extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.serverAuth] },
  })
  const request = await read(name)
  const status = { ...request.status, certificate: Buffer.from(pem).toString('base64') }
  await cluster.admin.update(csrs, { ...request, status }, { subresource: 'status' })
}

test("a request whose names are the Node's is approved, with the same condition fields as kubectl writes", async () => {
  await ask('good')
  const run = await csr('approve', 'good')
  assert.equal(run.stdout, 'good approved\n')
  assert.match(run.stderr, /IP 10\.0\.0\.11 {3}Node worker-1 status\.addresses InternalIP/)
  const condition = csrCondition(await read('good'), 'Approved')
  assert.equal(condition?.reason, 'ApprovedByOperator')
  assert.equal(condition?.message, 'This CSR was approved by rollcall csr approve.')
  assert.equal(condition?.status, 'True')
  assert.equal(condition?.lastUpdateTime, formatTime(cluster.clock.now()))
  assert.equal((await csr('approve', 'good')).stdout, 'good was already approved\n')
})

test('a name that nothing proves needs --accept-unproven and a reason, which the condition keeps', async () => {
  await ask('foreign', { addresses: ['10.0.0.11', '10.96.0.1'] })
  const refused = (error: unknown) =>
    hasCode(error, 'APPROVAL_REFUSED') && /IP 10\.96\.0\.1/.test(error.message)
  await assert.rejects(csr('approve', 'foreign'), refused)
  await assert.rejects(csr('approve', 'foreign', '--reason', 'x'), refused)
  await assert.rejects(csr('approve', 'foreign', '--accept-unproven'), error => hasCode(error, 'USAGE'))
  assert.equal(csrCondition(await read('foreign'), 'Approved'), undefined)
  await csr('approve', 'foreign', '--accept-unproven', '--reason', 'second NIC, CHG-1182')
  assert.equal(
    csrCondition(await read('foreign'), 'Approved')?.message,
    'This CSR was approved by rollcall csr approve: second NIC, CHG-1182. Accepted without proof: IP 10.96.0.1.',
  )
})

test("the Node's addresses prove nothing for a request that another made", async () => {
  const other = await cluster.as('mallory')
  await cluster.grant('mallory', [
    { verbs: ['create'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] },
  ])
  await ask('stolen', { by: other })
  await assert.rejects(csr('approve', 'stolen'), /nothing proves DNS "worker-1", IP 10\.0\.0\.11/)
})

test('a bootstrap token that asks for the name of a node at work is not waved through', async () => {
  await ask('imposter', { by: cluster.bootstrapper, signerName: signerNames.kubeletClient })
  await assert.rejects(
    csr('approve', 'imposter'),
    /the identity of node worker-1, which is Ready and did not ask/,
  )
  await csr('deny', 'imposter', '--reason', 'worker-1 is in use')
})

test('a wildcard is refused whatever is given, and the other requests go through', async () => {
  await ask('wild', { dnsNames: ['*.example'] })
  await ask('tame')
  const both = csr('approve', 'wild', 'tame', '--accept-unproven', '--reason', 'x')
  await assert.rejects(both, /^RollcallError: not approved: wild: a wildcard is never approved/)
  assert.equal(csrCondition(await read('wild'), 'Approved'), undefined)
  assert.ok(csrCondition(await read('tame'), 'Approved'))
})

test('a denial keeps its reason, and neither decision turns into the other', async () => {
  await ask('bad')
  assert.equal((await csr('deny', 'bad', '--reason', 'stale address')).stdout, 'bad denied\n')
  const condition = csrCondition(await read('bad'), 'Denied')
  assert.equal(condition?.reason, 'DeniedByOperator')
  assert.match(condition?.message ?? '', /stale address/)
  await assert.rejects(csr('approve', 'bad'), /already Denied/)
  await assert.rejects(csr('deny', 'good', '--reason', 'x'), /already Approved/)
  await assert.rejects(csr('deny', 'bad'), /--reason/)
})

test('ls filters by node, requester, signer and decision', async () => {
  await ask('renewal', { signerName: signerNames.kubeletClient })
  const list = async (...flags: string[]) => {
    const lines = (await csr('ls', ...flags)).stdout.trimEnd().split('\n').slice(1)
    return lines.map(line => line.split(/\s+/)[0]).sort()
  }
  assert.deepEqual(await list('--signer', 'client'), ['imposter', 'renewal'])
  assert.deepEqual(await list('--requester', 'mallory'), ['stolen'])
  assert.deepEqual(await list('--node', 'worker-2'), [])
  assert.deepEqual(await list('--pending'), ['renewal', 'stolen', 'wild'])
  assert.ok((await list('--node', 'worker-1')).includes('good'))
  const { items } = JSON.parse((await csr('ls', '-o', 'json', '--signer', 'client')).stdout)
  assert.deepEqual(
    items.map((item: CertificateSigningRequest) => item.metadata.name),
    ['imposter', 'renewal'],
  )
  assert.match((await csr('ls', '-o', 'wide')).stdout, /DNS \*\.example/)
})

test('ls says of what waits which names are not on the Node, and what the doctor calls it', async () => {
  const lines = (await csr('ls', '--pending')).stdout.split('\n')
  assert.match(lines[0] ?? '', / NOT ON THE NODE +WHY$/)
  const of = (name: string) => lines.find(line => line.startsWith(`${name} `)) ?? ''
  assert.match(of('wild'), / DNS \*\.example /)
  assert.doesNotMatch((await csr('ls', '--node', 'worker-2')).stdout, /WHY/)
})

test('show sets the names beside the addresses of the Node', async () => {
  const { stdout } = await csr('show', 'foreign')
  assert.match(stdout, /IP 10\.96\.0\.1 {3}UNPROVEN/)
  assert.match(stdout, /address +InternalIP 10\.0\.0\.11/)
  assert.match(stdout, /approved +ApprovedByOperator: .*CHG-1182/)
})

test('explain: pending, and the role that is missing is named', async () => {
  await cluster.admin.delete(resources.clusterRoleBindings, {
    name: 'kubeadm:node-autoapprove-certificate-rotation',
  })
  const run = await csr('explain', 'renewal')
  assert.equal(run.exitCode, 3)
  assert.match(run.stdout, /renewal +Pending \(NotAuthorised\)/)
  assert.match(
    run.stdout,
    /kubectl create clusterrolebinding kubeadm:node-autoapprove-certificate-rotation .*--group=system:nodes/,
  )
})

test('explain: pending, because a name stands against approval', async () => {
  await ask('spoof', { addresses: ['10.0.0.66'] })
  await cluster.clock.advance(1_000)
  const run = await csr('explain', 'spoof')
  assert.equal(run.exitCode, 3)
  assert.match(run.stdout, /WouldBeRefused/)
  assert.match(run.stdout, /10\.0\.0\.66/)
})

test('explain: superseded by a newer request of the same node', async () => {
  await cluster.clock.advance(901_000)
  await ask('again')
  const run = await csr('explain', 'spoof')
  assert.match(run.stdout, /Superseded by again/)
  assert.match(run.stdout, /rollcall csr explain again/)
})

test('explain: pending without an approver, and new ones get their minute', async () => {
  const fresh = await csr('explain', 'again')
  assert.equal(fresh.exitCode, 0, fresh.stdout)
  await cluster.clock.advance(120_000)
  const late = await csr('explain', 'again')
  assert.equal(late.exitCode, 3)
  assert.match(late.stdout, /no running approver for kubernetes\.io\/kubelet-serving was seen/)
  assert.match(late.stdout, /rollcall csr approve again/)
})

test('explain: approved and unsigned, with who runs', async () => {
  const unsigned = await csr('explain', 'good')
  assert.match(unsigned.stdout, /ApprovedUnsigned \(NoSigner\)/)
  const now = formatMicroTime(cluster.clock.now())
  await cluster.admin.create<Lease>(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
    spec: { holderIdentity: 'cp-1', leaseDurationSeconds: 15, acquireTime: now, renewTime: now },
  })
  const slow = await csr('explain', 'good')
  assert.match(slow.stdout, /SignerSlow/)
  assert.match(slow.stdout, /held by cp-1, renewed 0 s ago/)
})

test('explain: issued until when, and found when expired or for another key', async () => {
  await sign('good', cluster.clock.now() + 3_600_000)
  const good = await csr('explain', 'good')
  assert.equal(good.exitCode, 0)
  assert.match(
    good.stdout,
    /All is well: the certificate is valid until 2026-03-01T\d\d:\d\d:\d\dZ, 60m from now/,
  )
  await sign('tame', cluster.clock.now() + 3_600_000, generateSigner('Ed25519', seededRandom(6)).publicKey)
  assert.match((await csr('explain', 'tame')).stdout, /CertificateForOtherKey/)
})

test('explain: denied and failed give the words of who decided', async () => {
  const denied = await csr('explain', 'bad')
  assert.match(denied.stdout, /^bad +Denied$/m)
  assert.match(denied.stdout, /Denied: DeniedByOperator: .*stale address/)
  const request = await read('foreign')
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: 'usages did not match',
  } as const
  const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), failed] }
  await cluster.admin.update(csrs, { ...request, status }, { subresource: 'status' })
  const run = await csr('explain', 'foreign', '-o', 'json')
  assert.equal(JSON.parse(run.stdout).code, 'SignerRefused')
  assert.match(run.stdout, /SignerValidationFailure: usages did not match/)
  assert.equal(run.exitCode, 3)
})

test('explain: an operator who may read only requests learns what could not be checked', async () => {
  await cluster.grant('viewer', [
    { verbs: ['get', 'list'], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] },
  ])
  await ask('unseen')
  const viewer = await cluster.as('viewer')
  const run = await runCommand(registerCsr, viewer, cluster.clock, 'csr', 'explain', 'unseen')
  assert.equal(run.exitCode, 4, run.stdout)
  assert.match(run.stdout, /unchecked +who runs \(Leases\): .*forbidden/)
})

test('explain: a request that is gone is told apart from one that never was readable', async () => {
  await assert.rejects(csr('explain', 'nobody'), /no request "nobody": requests are deleted an hour after/)
})

test('status sums up nodes, certificates and what waits', async () => {
  await cluster.clock.advance(120_000)
  const { stdout } = await runCommand(registerStatus, cluster.admin, cluster.clock, 'status')
  assert.match(stdout, /^nodes +1 +ready 1 +not ready 0$/m)
  assert.match(stdout, /^serving +valid 1 +overdue 0 +expired 0 +not known 0$/m)
  assert.match(stdout, /^client +valid 0 +overdue 0 +expired 0 +not known 1$/m)
  assert.match(stdout, /^next expiry +worker-1 serving, in 5\dm/m)
  assert.match(
    stdout,
    /undecided for more than a minute: 6 from one node, .*:\n(.*\n)*.*stolen.*rollcall csr explain stolen/,
  )
})

test('ls says by its id why a request waits', async () => {
  const { stdout } = await csr('ls', '--pending')
  assert.match(stdout, /^renewal .* Pending +- +C0\d \w/m)
})

test('status says when a certificate expired', async () => {
  await cluster.clock.advance(7_200_000)
  const { stdout } = await runCommand(registerStatus, cluster.admin, cluster.clock, 'status', '-o', 'yaml')
  assert.match(stdout, /expired: true/)
  assert.match((await csr('explain', 'good')).stdout, /CertificateExpired/)
})

test('nodes lists them, and one by name in detail', async () => {
  const table = (await runCommand(registerNodes, cluster.admin, cluster.clock, 'nodes')).stdout
  assert.match(table, /^NAME +STATUS +CLIENT +SERVING +PENDING +AGE\nworker-1 +Ready +not known +expired/)
  const detail = (await runCommand(registerNodes, cluster.admin, cluster.clock, 'nodes', 'worker-1')).stdout
  assert.match(detail, /^serving +EXPIRED \d+m ago, until .*, \d+% used$/m)
  assert.match(detail, /^address +InternalIP 10\.0\.0\.11$/m)
  await assert.rejects(
    runCommand(registerNodes, cluster.admin, cluster.clock, 'nodes', 'x'),
    /there is no node "x"/,
  )
})
