import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { hasCode } from '../../errors.ts'
import { generateSigner } from '../../keys/private-key.ts'
import type { CertificatePolicy } from '../../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../../kube/rollcall/certificate-policy.ts'
import { runCommand } from '../../testing/command-run.ts'
import { type ControlledCluster, onCluster } from '../../testing/controlled-cluster.ts'
import { ip, nodeNamed } from '../../testing/judged-request.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { signedRequest } from '../../testing/signed-request.ts'
import { register as registerCsr } from '../csr/csr.ts'
import { register } from './policy.ts'

const example = (name: string) =>
  fileURLToPath(new URL(`../../../examples/policies/${name}`, import.meta.url))

function folderOf(t: TestContext, files: Record<string, string>): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'policy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return name => join(folder, name)
}

const on = ({ admin, clock }: ControlledCluster, ...words: string[]) =>
  runCommand(register, admin, clock, 'policy', ...words)

const policy = (name: string, spec: CertificatePolicy['spec']): CertificatePolicy => ({
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name },
  spec,
})
const text = (spec: CertificatePolicy['spec']) => stringify(policy('default', spec))

async function kubeletRequest(): Promise<string> {
  const subjectAltName = { dnsNames: ['worker-1'], ipAddresses: [ip('10.0.0.11')] }
  const signer = generateSigner('ECDSA-P256', seededRandom(4))
  return signedRequest({ signer, commonName: 'system:node:worker-1', subjectAltName })
}

test('validate tells every problem with its line and column, and exits 3', async t => {
  const path = folderOf(t, { 'bad.yaml': text({ preset: 'lab', waitSeconds: 0 }) })
  await onCluster(async cluster => {
    const bad = await on(cluster, 'validate', '-f', path('bad.yaml'))
    assert.match(bad.stdout, /bad\.yaml:7:3: spec\.waitSeconds: must be at least 1\n/)
    assert.equal(bad.exitCode, 3)
    const good = await on(cluster, 'validate', '-f', example('lab.yaml'), example('inventory-pools.yaml'))
    assert.equal(good.exitCode, 0)
    await assert.rejects(on(cluster, 'validate', '-f', path('none.yaml')), error => hasCode(error, 'USAGE'))
  })()
})

test('a PEM that a kubelet made is judged offline, by the Nodes and the inventory of files', async t => {
  const worker = { ...nodeNamed('worker-1', { 'worker-1': 'Hostname', '10.0.0.11': 'InternalIP' }) }
  const path = folderOf(t, {
    'request.pem': await kubeletRequest(),
    'node.yaml': stringify(worker),
    'webhook.yaml': text({ evidence: 'NodeStatus', evidenceFrom: ['cmdb'] }),
    'list.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [worker] }),
  })
  const request = ['--csr', path('request.pem')]
  await onCluster(async cluster => {
    const lab = await on(cluster, 'test', '-f', example('lab.yaml'), ...request, '--node', path('node.yaml'))
    assert.match(lab.stdout, /worker-1 +Approve SansProven/)
    assert.equal(lab.exitCode, 0)
    const strict = await on(
      cluster,
      'test',
      '-f',
      example('strict.yaml'),
      ...request,
      '--node',
      path('list.json'),
    )
    assert.match(strict.stdout, /Deny SanNotAllowed/)
    assert.equal(strict.exitCode, 3)
    const pools = ['test', '-f', example('inventory-pools.yaml'), ...request, '--node', path('node.yaml')]
    const unknown = await on(cluster, ...pools)
    assert.match(unknown.stdout, /EvidenceUnavailable/)
    assert.equal(unknown.exitCode, 4)
    const known = await on(cluster, ...pools, '--inventory', example('inventory.yaml'))
    assert.match(known.stdout, /Approve SansProven/)
    const elsewhere = await on(
      cluster,
      'test',
      '-f',
      path('webhook.yaml'),
      ...request,
      '--node',
      path('node.yaml'),
    )
    assert.match(elsewhere.stdout, /evidence source cmdb: is asked by the controller only/)
    assert.equal(elsewhere.exitCode, 4)
  })()
})

test('the stored requests are judged again, and what would change is printed', async t => {
  const path = folderOf(t, {
    'same.yaml': text({ preset: 'lab' }),
    'narrow.yaml': text({ preset: 'lab', sans: { ipRanges: ['10.0.0.12/32'] } }),
    'inventory.yaml': text({ preset: 'inventory' }),
  })
  await onCluster(async cluster => {
    await cluster.admin.create(certificatePolicies, policy('default', { preset: 'lab' }))
    await cluster.start({ approvalPolicy: undefined })
    for (const last of ['1', '2']) {
      const [node, address] = [`worker-${last}`, `10.0.0.1${last}`]
      await cluster.register(node, [['InternalIP', address]])
      await cluster.ask({ by: await cluster.node(node), node, ips: [address] })
    }
    const run = (file: string) => on(cluster, 'test', '-f', path(file), '--history')
    const same = await run('same.yaml')
    assert.equal(same.stdout, '0 of 2 stored requests would be judged otherwise\n')
    assert.equal(same.exitCode, 0)
    const narrow = await run('narrow.yaml')
    assert.match(narrow.stdout, /worker-1 +Approved +Approve SansProven +Deny SanNotAllowed/)
    assert.match(narrow.stdout, /\n1 of 2 stored/)
    assert.equal(narrow.exitCode, 3)
    const unread = await run('inventory.yaml')
    assert.match(unread.stdout, /unchecked: inventory ConfigMap kube-system\/rollcall-inventory/)
    assert.equal(unread.exitCode, 4)
  })()
})

test(
  'ls and show say what is in force, with the preset filled in',
  onCluster(async cluster => {
    await cluster.admin.create(certificatePolicies, policy('default', { preset: 'strict' }))
    await cluster.admin.create(certificatePolicies, policy('next', { preset: 'lab', shadowOf: 'default' }))
    await cluster.start({ approvalPolicy: undefined })
    const { stdout } = await on(cluster, 'ls')
    assert.match(stdout, /default +strict +ProtectedNodeStatus +0 +enforce +True +InForce/)
    assert.match(stdout, /next +lab +NodeStatus +0 +enforce +True +Shadow/)
    const shown = (await on(cluster, 'show')).stdout
    assert.match(shown, /InForce +True \(InForce\): requests are judged by it/)
    assert.match(shown, /\nevidence: ProtectedNodeStatus\n/)
  }),
)

test(
  'csr explain says that there is no policy',
  onCluster(async cluster => {
    await cluster.register('worker-1', [['InternalIP', '10.0.0.11']])
    const csr = await cluster.ask({
      by: await cluster.node('worker-1'),
      node: 'worker-1',
      ips: ['10.0.0.11'],
    })
    const run = await runCommand(registerCsr, cluster.admin, cluster.clock, 'csr', 'explain', csr)
    assert.match(run.stdout, /\(NoPolicy\)\n.*No CertificatePolicy named default/)
    assert.equal(run.exitCode, 3)
  }),
)
