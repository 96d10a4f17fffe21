import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueLocally } from '../../agent/control-plane/local-pairs.ts'
import { generateSigner, loadSigner } from '../../keys/private-key.ts'
import { newSealingKey } from '../../keys/sealed.ts'
import { caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { controlPlaneAnnotation, decodeControlPlaneOrders } from '../../trust/control-plane-orders.ts'
import {
  type ControlPlaneReport,
  controlPlaneReportAnnotation,
  decodeControlPlaneReport,
  encodeControlPlaneReport,
} from '../../trust/control-plane-report.ts'
import { proveSeal } from '../../trust/seal-proof.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { nameOf } from '../../x509/name.ts'
import { type KubeadmCluster, kubeadmCluster } from './testing/kubeadm-cluster.ts'

/** The Lease of a node tells another report of its control plane. */
function lies(change: (report: ControlPlaneReport) => ControlPlaneReport) {
  return (annotations: Record<string, string>) => {
    const report = decodeControlPlaneReport(annotations[controlPlaneReportAnnotation])
    const text = report && encodeControlPlaneReport(change(report))
    return { ...annotations, ...(text !== undefined && { [controlPlaneReportAnnotation]: text }) }
  }
}

async function sealedFor(under: KubeadmCluster, name: string): Promise<string[]> {
  const { metadata } = await under.control.client.get<KubeNode>(resources.nodes, { name })
  const orders = decodeControlPlaneOrders(metadata.annotations?.[controlPlaneAnnotation('apiserver-serving')])
  return Object.keys(orders?.sealed ?? {})
}

test('a CA key is in clear in no object, no log and no journal of a step, and on no disk but in its own file', async () => {
  const log = recordingLog()
  const under = await kubeadmCluster(log)
  await under.begin('apiserver-serving')
  const key = () => {
    const signer = under.cas.authority('apiserver-serving', 2)?.signer
    const pem =
      signer && 'exportPem' in signer ? (signer.exportPem as () => { reveal(): string })().reveal() : ''
    return pem.split('\n').slice(1, 3)
  }
  const { admin } = under.cluster
  for (let second = 0; second < 45; second += 1) {
    await under.pass(1)
    const secrets = key().filter(line => line.length > 20)
    const kinds = [
      resources.configMaps,
      resources.nodes,
      resources.leases,
      resources.secrets,
      resources.events,
    ]
    const lists = await Promise.all([...kinds, trustBundle.ref, caRotation.ref].map(kind => admin.list(kind)))
    const everywhere = [JSON.stringify(lists), ...log.lines, JSON.stringify(log.fields)]
    for (const node of under.nodes) {
      const step = '/var/lib/rollcall/control-plane/step'
      for (const name of node.machine.list('/var/lib/rollcall/control-plane').includes('step')
        ? node.machine.list(step)
        : [])
        everywhere.push(node.text(`${step}/${name}`))
      for (const [path, text] of Object.entries(node.files()))
        if (!/\/ca-apiserver-serving-[0-9a-f]+\.key$/.test(path)) everywhere.push(text)
    }
    for (const secret of secrets)
      assert.ok(!everywhere.some(text => text.includes(secret)), `after ${second} s`)
  }
  assert.equal(key().length, 2)
  assert.ok(
    under.nodes.every(node => Object.values(node.files()).some(text => text.includes(key()[0] ?? '-'))),
  )
  await under.stop()
})

test('who may write Leases and Nodes is sealed no CA key: the sealing key is signed by the certificate of a named node', async () => {
  const under = await kubeadmCluster()
  const [first, second] = under.nodes
  assert.ok(first && second)
  const mine = Buffer.from(newSealingKey(seededRandom(666)).publicKey).toString('base64')
  first.lies = lies(report => ({ ...report, seal: mine }))
  await under.begin('apiserver-serving')
  await under.until('apiserver-serving', phase => phase === 'Distributing')
  await under.pass(10)
  assert.deepEqual(await sealedFor(under, 'cp-1'), [])
  // Neither does the word of another control-plane node help, which is good for that one alone.
  first.lies = lies(report => {
    const other = second.report()
    const { proof } = other
    return { ...report, seal: other.seal, ...(proof && { proof }) }
  })
  await under.pass(10)
  assert.deepEqual(await sealedFor(under, 'cp-1'), [])
  delete first.lies
  await under.until('apiserver-serving', phase => phase === 'Done')
  await under.stop()
})

test('who has stolen the key of the client CA is not sealed the next one, where the nodes’ own keys are pinned', async () => {
  const under = await kubeadmCluster()
  const [first, ...others] = under.nodes
  const ca = under.cas.authority('client', 1)
  assert.ok(first && ca)
  await under.pass(3)
  const pinned = under.nodes.map(({ name, report }) => {
    const key = report().proof?.identity?.key ?? ''
    return [name, sha256Hex(new Uint8Array(Buffer.from(key, 'base64')))] as const
  })
  assert.equal(new Set(pinned.map(([, sha256]) => sha256)).size, 1 + others.length)
  Object.assign(under.control, { identities: Object.fromEntries(pinned) })
  // A certificate of the node, a sealing key and an identity: all of the thief's own making.
  const thief = newSealingKey(seededRandom(666))
  const { metadata } = await under.control.client.get<KubeNode>(resources.nodes, { name: 'cp-1' })
  const subject = nameOf({ commonName: 'system:node:cp-1', organizations: ['system:nodes'] })
  const now = under.cluster.clock.now()
  const forged = await issueLocally(ca, { subject, usage: 'clientAuth' }, { now, random: seededRandom(4) })
  const seal = Buffer.from(thief.publicKey).toString('base64')
  const proof = await proveSeal(
    seal,
    { name: 'cp-1', uid: metadata.uid ?? '' },
    {
      chain: forged.certificate,
      signer: loadSigner(forged.key),
      identity: generateSigner('Ed25519', seededRandom(667)),
    },
  )
  first.lies = lies(report => ({ ...report, seal, proof }))
  await under.begin('apiserver-serving')
  await under.until('apiserver-serving', phase => phase === 'Distributing')
  await under.pass(10)
  assert.deepEqual(await sealedFor(under, 'cp-1'), [])
  delete first.lies
  await under.until('apiserver-serving', phase => phase === 'Done')
  await under.stop()
})

test('a stolen control-plane node that says it has done everything opens no gate: servers are tried by handshakes', async () => {
  const under = await kubeadmCluster()
  const [first] = under.nodes
  assert.ok(first)
  // The agent there does nothing any more, and its Lease says what is hoped for.
  await under.pass(3)
  const honest = first.report()
  await first.agent.stop()
  first.lies = annotations => {
    const orders = decodeControlPlaneOrders(
      under.cluster.reader.get<KubeNode>(resources.nodes, 'cp-1')?.metadata.annotations?.[
        controlPlaneAnnotation('client')
      ],
    )
    const { token = 0, sequence = 0, trust = 0, sign, own } = orders ?? {}
    const client = {
      token,
      sequence,
      state: 'Settled',
      trust,
      ...(sign && { sign }),
      ...(own && { own }),
    } as const
    const report = {
      ...honest,
      healthy: true,
      seenAt: under.cluster.clock.now(),
      ...(orders && { roles: { client } }),
    }
    return { ...annotations, [controlPlaneReportAnnotation]: encodeControlPlaneReport(report) }
  }
  await under.begin('client')
  await under.pass(90)
  const { status } = await under.rotation('client')
  assert.ok(['Distributing', 'Proving'].includes(status?.phase ?? ''), status?.phase)
  assert.match(`${status?.blockers}`, /apiserver\/cp-1 has not proven to have loaded the CA/)
  assert.deepEqual(under.lost, [])
  await under.stop()
})

test('orders of before, and bundles of before, are obeyed by no agent, whoever writes them on its Node', async () => {
  const under = await kubeadmCluster()
  const [first] = under.nodes
  assert.ok(first)
  await under.begin('client')
  await under.until('client', phase => phase === 'Reissuing')
  await under.acknowledge('client', 'ledger')
  const { admin } = under.cluster
  const key = controlPlaneAnnotation('client')
  const before =
    (await admin.get<KubeNode>(resources.nodes, { name: 'cp-1' })).metadata.annotations?.[key] ?? ''
  await under.until('client', phase => phase === 'Done')
  const { trust = 0 } = first.report().roles.client ?? {}
  const replay = (text: string) =>
    admin.patch(resources.nodes, { name: 'cp-1' }, 'merge', { metadata: { annotations: { [key]: text } } })
  await replay(before)
  await under.pass(3)
  assert.equal(first.report().roles.client?.trust, trust)
  // Even under a fence that is newer than all.
  await replay(before.replace(/^fence \d+ \d+/, 'fence 99 99'))
  await under.pass(3)
  assert.equal(first.report().roles.client?.trust, trust)
  // And the controller says again what stands.
  const { metadata } = await admin.get<KubeNode>(resources.nodes, { name: 'cp-1' })
  assert.equal(decodeControlPlaneOrders(metadata.annotations?.[key])?.trust, trust)
  await under.stop()
})
