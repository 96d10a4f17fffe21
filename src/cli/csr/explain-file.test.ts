import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { generateSigner } from '../../keys/private-key.ts'
import { runCommand } from '../../testing/command-run.ts'
import { calm, nodeStatusPolicy, onCluster } from '../../testing/controlled-cluster.ts'
import { ip, worker1 } from '../../testing/judged-request.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { signedRequest } from '../../testing/signed-request.ts'
import { register } from './csr.ts'

async function explainFiles(addresses: string[], ...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'explain-'))
  try {
    const request = await signedRequest({
      signer: generateSigner('Ed25519', seededRandom(5)),
      commonName: 'system:node:worker-1',
      subjectAltName: { dnsNames: ['worker-1'], ipAddresses: addresses.map(ip) },
    })
    const files = {
      'request.pem': request,
      'node.yaml': stringify(worker1),
      'policy.yaml':
        'apiVersion: rollcall.dev/v1alpha1\nkind: CertificatePolicy\nmetadata: {name: default}\nspec: {preset: inventory}\n',
      'inventory.yaml': 'nodes: {worker-1: {addresses: [10.0.0.11]}}\n',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const paths = words.map(word => (word in files ? join(folder, word) : word))
    // No cluster: asking one would fail.
    const client = {} as Parameters<typeof runCommand>[1]
    const clock = createManualClock(Date.parse('2026-03-01T12:00:00Z'))
    return await runCommand(register, client, clock, 'csr', 'explain', ...paths)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('explain -f judges a request that nobody has made, beside its Node, without a cluster', async () => {
  const given = ['-f', 'request.pem', '--node', 'node.yaml']
  const good = await explainFiles(['10.0.0.11'], ...given)
  assert.equal(good.exitCode, 4, good.stdout)
  assert.match(good.stdout, /claim +IP 10\.0\.0\.11 +Node worker-1 status\.addresses InternalIP/)
  assert.match(good.stdout, /verdict +Approve SansProven/)
  assert.match(good.stdout, /unchecked +the policy/)

  const foreign = await explainFiles(['10.0.0.66'], ...given)
  assert.equal(foreign.exitCode, 3)
  assert.match(foreign.stdout, /claim +IP 10\.0\.0\.66 +UNPROVEN/)
  assert.match(foreign.stdout, /verdict +Wait SanUnproven/)
})

test('explain -f by a policy: without the inventory that it names nothing can be said, with it all is checked', async () => {
  const given = ['-f', 'request.pem', '--node', 'node.yaml', '--policy', 'policy.yaml']
  const without = await explainFiles(['10.0.0.11'], ...given)
  assert.match(without.stdout, /verdict +Retry EvidenceUnavailable +inventory: was not given/)
  const all = await explainFiles(['10.0.0.11'], ...given, '--inventory', 'inventory.yaml', '-o', 'json')
  assert.equal(all.exitCode, 0, all.stdout)
  assert.equal(JSON.parse(all.stdout).verdict.outcome, 'Approve')
})

test(
  'explain: a held request tells for what it waits, and who has approved it; ls shows it as held',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, mode: 'manual', approvers: 2 } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    const csr = (...words: string[]) => runCommand(register, cluster.admin, cluster.clock, 'csr', ...words)
    assert.match((await csr('ls')).stdout, /Pending,Held:ManualApproval/)
    await csr('approve', name, '--reason', 'new rack')
    await calm()
    const { stdout, exitCode } = await csr('explain', name)
    assert.equal(exitCode, 3)
    assert.match(stdout, /Pending \(Held\)\n +Held for a person: ManualApproval/)
    assert.match(stdout, /waits for +a second approver beside admin/)
    assert.match(stdout, /approved by admin: new rack \(counts until 2026-03-01T13:00:00Z\)/)
  }),
)

test(
  'explain knows live certificates: an address of a node that gave it up is not free',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: nodeStatusPolicy })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    await cluster.admin.create(
      {
        group: 'rollcall.dev',
        version: 'v1alpha1',
        plural: 'certificatepolicies',
        kind: 'CertificatePolicy',
        namespaced: false,
      },
      {
        apiVersion: 'rollcall.dev/v1alpha1',
        kind: 'CertificatePolicy',
        metadata: { name: 'default' },
        spec: { evidence: 'NodeStatus' },
      } as never,
    )
    await cluster.register('a', [['InternalIP', '10.0.0.7']])
    await cluster.register('b', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.1'] })
    const { stdout } = await runCommand(register, cluster.admin, cluster.clock, 'csr', 'explain', name)
    assert.match(stdout, /OwnedByOtherNode: SAN IP 10\.0\.0\.1 is in a certificate of node "a"/)
  }),
)
