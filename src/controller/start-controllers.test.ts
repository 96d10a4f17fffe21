import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { Registry } from 'prom-client'
import type { ApprovalPolicy } from '../approve/policy.ts'
import { hasCode } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { isStatus, type KubeClient } from '../kube/client.ts'
import { csrCondition } from '../kube/csr-conditions.ts'
import {
  type CertificateSigningRequest,
  type ConfigMap,
  type KubeEvent,
  type KubeNode,
  type Namespace,
  type NodeAddress,
  resources,
  type Secret,
  signerNames,
} from '../kube/types.ts'
import type { LedgerEntry } from '../sign/ledger.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { settle } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { signedRequest } from '../testing/signed-request.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { verifyChain } from '../x509/chain.ts'
import { parseIp } from '../x509/ip.ts'
import { formatName } from '../x509/name.ts'
import type { ControllersOptions, RunningControllers } from './options.ts'
import { controllerRules, tokenRules } from './rbac.ts'
import { startControllers } from './start-controllers.ts'

const policy: ApprovalPolicy = { evidence: 'NodeStatus', allowedRanges: [], serviceRanges: ['10.96.0.0/12'] }
const csrs = resources.certificateSigningRequests
let cluster: EmbeddedCluster
let controllerClient: KubeClient
let log: ReturnType<typeof recordingLog>
let running: RunningControllers[]

beforeEach(async () => {
  log = recordingLog()
  running = []
  cluster = await startEmbeddedCluster()
  await cluster.grant('rollcall', controllerRules)
  await cluster.grant('rollcall', tokenRules, 'kube-system')
  controllerClient = await cluster.as('rollcall')
})
afterEach(async () => {
  await Promise.all(running.map(controllers => controllers.stop()))
  await cluster.close()
  assert.equal(cluster.clock.pending(), 0, 'timers are left')
})

async function start(changes: Partial<ControllersOptions> = {}): Promise<RunningControllers> {
  const ca = { certificate: cluster.ca.pem, signer: cluster.ca.signer }
  const controllers = startControllers({
    client: controllerClient,
    clock: cluster.clock,
    random: seededRandom(3),
    log,
    signers: {
      [signerNames.kubeletClient]: ca,
      [signerNames.kubeletServing]: ca,
      [signerNames.apiserverClient]: ca,
    },
    certificateLifetimeSeconds: 86_400,
    rootCertificates: cluster.ca.pem,
    approvalPolicy: policy,
    ...changes,
  })
  running.push(controllers)
  await calm()
  return controllers
}

/** Lets everything happen that needs no time. */
async function calm(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await settle()
}

let made = 0
interface Ask {
  by: KubeClient
  node: string
  dns?: string[]
  ips?: string[]
  signerName?: string
  usages?: string[]
  organizations?: string[]
}

async function ask(what: Ask): Promise<string> {
  const { by, node, dns = [], ips = [], organizations = ['system:nodes'] } = what
  const serving = dns.length + ips.length > 0
  const signer = generateSigner('Ed25519', seededRandom(1000 + made++))
  const ipAddresses = ips.map(text => parseIp(text) ?? assert.fail())
  const commonName = `system:node:${node}`
  const pem = await signedRequest({
    signer,
    commonName,
    organizations,
    subjectAltName: { dnsNames: dns, ipAddresses },
  })
  const created = await by.create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `csr-${made}` },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: what.signerName ?? (serving ? signerNames.kubeletServing : signerNames.kubeletClient),
      usages: what.usages ?? ['digital signature', serving ? 'server auth' : 'client auth'],
    },
  })
  await calm()
  return created.metadata.name
}

const read = (name: string) => cluster.admin.get<CertificateSigningRequest>(csrs, { name })

async function register(name: string, addresses: [NodeAddress['type'], string][]): Promise<void> {
  const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
  const created = await cluster.admin.create(resources.nodes, node).catch(error => {
    if (!isStatus(error, 'AlreadyExists')) throw error
    return cluster.admin.get<KubeNode>(resources.nodes, { name })
  })
  const status = { ...created.status, addresses: addresses.map(([type, address]) => ({ type, address })) }
  await cluster.admin.update(resources.nodes, { ...created, status }, { subresource: 'status' })
  await calm()
}

/** What the request came to, e.g. `Approved AutoApproved, issued`. */
async function fate(name: string): Promise<string> {
  const { status } = await read(name)
  const conditions = status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? []
  return [...conditions, ...(status?.certificate ? ['issued'] : [])].join(', ') || 'pending'
}

async function eventsOf(name: string): Promise<string[]> {
  const { items } = await cluster.admin.list<KubeEvent>(resources.events, { namespace: 'default' })
  return items
    .filter(event => event.involvedObject.name === name)
    .map(({ type, reason }) => `${type} ${reason}`)
}

test('a bootstrapping node gets its client certificate, then its serving certificate, without time passing', async () => {
  await start()
  const client = await ask({ by: cluster.bootstrapper, node: 'a' })
  assert.equal(await fate(client), 'Approved AutoApproved, issued')
  await register('a', [
    ['Hostname', 'a'],
    ['InternalIP', '10.0.0.1'],
  ])
  const serving = await ask({ by: await cluster.node('a'), node: 'a', dns: ['a'], ips: ['10.0.0.1'] })
  assert.equal(await fate(serving), 'Approved SansProven, issued')

  const { status } = await read(serving)
  const [leaf, ...more] = parseCertificatesPem(Buffer.from(status?.certificate ?? '', 'base64').toString())
  assert.ok(leaf && more.length === 0)
  assert.equal(formatName(leaf.subject), 'CN=system:node:a,O=system:nodes')
  const { certificate: root } = cluster.ca
  assert.deepEqual(verifyChain([leaf], [root], { now: cluster.clock.now(), usage: 'serverAuth' }), {
    ok: true,
  })
  const approved = csrCondition(await read(serving), 'Approved')
  assert.match(approved?.message ?? '', /DNS "a" \(Node a status.addresses Hostname\)/)
  assert.equal(approved?.lastUpdateTime, '2026-03-01T12:00:00Z')
  assert.deepEqual(await eventsOf(serving), ['Normal SansProven'])
})

test('C-11: a renewal is approved as one', async () => {
  await start()
  const name = await ask({ by: await cluster.node('a'), node: 'a' })
  assert.match(csrCondition(await read(name), 'Approved')?.message ?? '', /self kubelet client certificate/)
})

test('requests that were there before the controllers are judged when they start', async () => {
  const name = await ask({ by: cluster.bootstrapper, node: 'a' })
  await start()
  assert.equal(await fate(name), 'Approved AutoApproved, issued')
})

test('a serving request waits for its Node and its addresses, and is approved the moment they are there', async () => {
  await start()
  const name = await ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
  assert.equal(await fate(name), 'pending')
  await register('a', [['Hostname', 'a']])
  assert.equal(await fate(name), 'pending')
  await register('a', [['InternalIP', '10.0.0.1']])
  assert.equal(await fate(name), 'Approved SansProven, issued')
  assert.deepEqual(await eventsOf(name), ['Normal NodeNotFound', 'Normal SanUnproven', 'Normal SansProven'])
})

test('a serving request is denied when its address is not there after five minutes', async () => {
  await start()
  await register('a', [['InternalIP', '10.0.0.1']])
  const name = await ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.9'] })
  await cluster.clock.advance(299_000)
  assert.equal(await fate(name), 'pending')
  await cluster.clock.advance(2_000)
  await calm()
  assert.equal(await fate(name), 'Denied SanUnproven')
  assert.match(
    csrCondition(await read(name), 'Denied')?.message ?? '',
    /IP 10\.0\.0\.9 not on Node a status\.addresses/,
  )
})

test('a thief that writes its victim’s address to its own Node is denied at once', async () => {
  await start()
  await register('victim', [['InternalIP', '10.0.0.1']])
  await register('thief', [
    ['InternalIP', '10.0.0.2'],
    ['InternalIP', '10.0.0.1'],
  ])
  const name = await ask({ by: await cluster.node('thief'), node: 'thief', ips: ['10.0.0.1'] })
  assert.equal(await fate(name), 'Denied OwnedByOtherNode')
  assert.match(csrCondition(await read(name), 'Denied')?.message ?? '', /claimed by node "victim"/)
})

test('a stranger that asks for a node’s certificate is denied, one that asks for another is left alone', async () => {
  await start()
  await cluster.grant('eve', [
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create'] },
  ])
  const eve = await cluster.as('eve')
  assert.equal(await fate(await ask({ by: eve, node: 'a' })), 'Denied RequesterNotNode')
  const other = await ask({ by: eve, node: 'a', signerName: 'example.com/signer' })
  assert.equal(await fate(other), 'pending')
  assert.deepEqual(await eventsOf(other), [])
})

test('without a policy serving requests stay pending, with one Event; client requests are judged', async () => {
  const { approvalPolicy: _, ...without } = { approvalPolicy: undefined }
  const controllers = startControllers({
    client: controllerClient,
    clock: cluster.clock,
    random: seededRandom(3),
    log,
    signers: {},
    certificateLifetimeSeconds: 86_400,
    rootCertificates: '',
    ...without,
  })
  running.push(controllers)
  await calm()
  await register('a', [['InternalIP', '10.0.0.1']])
  const name = await ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
  await register('a', [['InternalIP', '10.0.0.2']])
  assert.equal(await fate(name), 'pending')
  assert.deepEqual(await eventsOf(name), ['Warning NoPolicy'])
  assert.equal(await fate(await ask({ by: cluster.bootstrapper, node: 'a' })), 'Approved AutoApproved')
})

test('C-14: a request whose access is not allowed stays pending until a role binding allows it', async () => {
  const binding = { name: 'kubeadm:node-autoapprove-bootstrap' }
  const before = await cluster.admin.get(resources.clusterRoleBindings, binding)
  await cluster.admin.delete(resources.clusterRoleBindings, binding)
  await start()
  const name = await ask({ by: cluster.bootstrapper, node: 'a' })
  await cluster.clock.advance(60_000)
  assert.equal(await fate(name), 'pending')
  assert.deepEqual(await eventsOf(name), ['Warning NotAuthorised'])
  const { name: same } = before.metadata
  await cluster.admin.create(resources.clusterRoleBindings, { ...before, metadata: { name: same } })
  await cluster.clock.advance(120_000)
  await calm()
  assert.equal(await fate(name), 'Approved AutoApproved, issued')
})

test('A13: what another approver decided first is left as it is', async () => {
  await start({ only: ['signing'] })
  const name = await ask({ by: cluster.bootstrapper, node: 'a' })
  const csr = await read(name)
  const conditions = [{ type: 'Denied', status: 'True', reason: 'KubectlDeny', message: 'no' }] as const
  await cluster.admin.update(
    csrs,
    { ...csr, status: { conditions: [...conditions] } },
    { subresource: 'approval' },
  )
  await start({ only: ['approval'] })
  assert.equal(await fate(name), 'Denied KubectlDeny')
})

test('two approvers at once write one decision', async () => {
  await start()
  await start({ only: ['approval', 'signing'] })
  const name = await ask({ by: cluster.bootstrapper, node: 'a' })
  assert.equal(await fate(name), 'Approved AutoApproved, issued')
})

test('C-33: an approved request that breaks the profile is marked Failed, in Kubernetes’ words', async () => {
  await start({ only: ['signing'] })
  const name = await ask({ by: cluster.bootstrapper, node: 'a', organizations: ['x'] })
  const csr = await read(name)
  const conditions = [{ type: 'Approved', status: 'True', reason: 'KubectlApprove' }] as const
  await cluster.admin.update(
    csrs,
    { ...csr, status: { conditions: [...conditions] } },
    { subresource: 'approval' },
  )
  await calm()
  assert.equal(await fate(name), 'Approved KubectlApprove, Failed SignerValidationFailure')
  const failed = csrCondition(await read(name), 'Failed')
  assert.equal(failed?.message, 'subject organization is not system:nodes')
})

test('every certificate is in the ledger before the requester can see it, and none is handed out that is not', async () => {
  const entries: [LedgerEntry, string][] = []
  let full = true
  const ledger = {
    async record(entry: LedgerEntry) {
      if (full) throw new Error('the ledger is full')
      entries.push([entry, await fate(entry.request.name)])
    },
  }
  await start({ ledger })
  const name = await ask({ by: cluster.bootstrapper, node: 'a' })
  assert.equal(await fate(name), 'Approved AutoApproved')
  full = false
  await cluster.clock.advance(1_000)
  await calm()
  assert.equal(await fate(name), 'Approved AutoApproved, issued')
  const [[entry, fateBefore] = assert.fail(), ...more] = entries
  assert.equal(more.length, 0)
  assert.equal(fateBefore, 'Approved AutoApproved')
  assert.equal(entry.subject, 'CN=system:node:a,O=system:nodes')
  assert.equal(
    Buffer.from((await read(name)).status?.certificate ?? '', 'base64').toString(),
    entry.certificate,
  )
})

test('C-40: requests that have had their time are deleted within the hour after it', async () => {
  await start()
  const name = await ask({ by: cluster.bootstrapper, node: 'a' })
  await cluster.clock.advance(3_600_000)
  assert.equal(await fate(name), 'Approved AutoApproved, issued')
  await cluster.clock.advance(3_600_000)
  await assert.rejects(read(name), error => isStatus(error, 'NotFound'))
})

test('C-50: every namespace has the root CA; it is repaired and made again', async () => {
  await start()
  const target = { name: 'kube-root-ca.crt', namespace: 'default' }
  const published = () => cluster.admin.get<ConfigMap>(resources.configMaps, target)
  assert.deepEqual((await published()).data, { 'ca.crt': cluster.ca.pem })
  await cluster.admin.update(resources.configMaps, { ...(await published()), data: { 'ca.crt': 'evil' } })
  await calm()
  assert.deepEqual((await published()).data, { 'ca.crt': cluster.ca.pem })
  await cluster.admin.delete(resources.configMaps, target)
  await calm()
  assert.deepEqual((await published()).data, { 'ca.crt': cluster.ca.pem })
  await cluster.admin.create<Namespace>(resources.namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'new' },
  })
  await calm()
  const inNew = await cluster.admin.get<ConfigMap>(resources.configMaps, { ...target, namespace: 'new' })
  assert.deepEqual(inNew.data, { 'ca.crt': cluster.ca.pem })
})

test('C-60, C-61: cluster-info is signed by the token, and no more once the token expired and is deleted', async () => {
  await start()
  const clusterInfo = () =>
    cluster.admin.get<ConfigMap>(resources.configMaps, { name: 'cluster-info', namespace: 'kube-public' })
  const secret = { name: 'bootstrap-token-abcdef', namespace: 'kube-system' }
  assert.match((await clusterInfo()).data?.['jws-kubeconfig-abcdef'] ?? '', /^[\w-]+\.\.[\w-]+$/)
  await cluster.admin.get<Secret>(resources.secrets, secret)
  await cluster.clock.advance(24 * 3_600_000 + 1)
  await calm()
  assert.deepEqual(Object.keys((await clusterInfo()).data ?? {}), ['kubeconfig'])
  await assert.rejects(cluster.admin.get(resources.secrets, secret), error => isStatus(error, 'NotFound'))
})

test('verdicts and certificates are counted', async () => {
  const metrics = new Registry()
  await start({ metrics })
  await ask({ by: cluster.bootstrapper, node: 'a' })
  const text = await metrics.metrics()
  const signer = 'signer="kubernetes.io/kube-apiserver-client-kubelet"'
  assert.ok(text.includes(`rollcall_csr_verdicts_total{${signer},outcome="Approve",reason="AutoApproved"} 1`))
  assert.ok(text.includes(`rollcall_certificates_issued_total{${signer}} 1`))
})

test('with leader election one works, and another goes on when it stops', async () => {
  const election = (identity: string) => ({
    leaderElection: { identity, namespace: 'kube-system', name: 'rollcall' },
  })
  const first = await start(election('one'))
  await start(election('two'))
  assert.equal(
    await fate(await ask({ by: cluster.bootstrapper, node: 'a' })),
    'Approved AutoApproved, issued',
  )
  await first.stop()
  const name = await ask({ by: cluster.bootstrapper, node: 'b' })
  assert.equal(await fate(name), 'pending')
  await cluster.clock.advance(10_000)
  await calm()
  assert.equal(await fate(name), 'Approved AutoApproved, issued')
})

test('a CA or a policy that cannot be used is refused before anything runs', async () => {
  const ca = { certificate: cluster.ca.pem, signer: generateSigner('Ed25519', seededRandom(99)) }
  await assert.rejects(start({ signers: { [signerNames.kubeletClient]: ca } }), error =>
    hasCode(error, 'SIGNER_UNUSABLE'),
  )
  const bad = { ...policy, allowedRanges: ['127.0.0.1'] }
  await assert.rejects(start({ approvalPolicy: bad }), error => hasCode(error, 'POLICY_INVALID'))
})

test('in a calm cluster nothing is warned of', async () => {
  await start()
  await ask({ by: cluster.bootstrapper, node: 'a' })
  await cluster.clock.advance(60_000)
  assert.deepEqual(
    log.lines.filter(line => !line.startsWith('info: ')),
    [],
  )
})
