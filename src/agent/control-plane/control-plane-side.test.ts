import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { controlPlaneAnnotation, encodeControlPlaneOrders } from '../../trust/control-plane-orders.ts'
import { controlPlaneReportAnnotation, decodeControlPlaneReport } from '../../trust/control-plane-report.ts'
import { isSealOf } from '../../trust/seal-proof.ts'
import { encodeTrustRoots } from '../../trust/trust-roots.ts'
import { startAgent } from '../agent.ts'
import { onNode, second } from '../testing/simulated-node.ts'
import { testCa } from './testing/control-plane-node.ts'
import { kubeadmFiles } from './testing/kubeadm-files.ts'

const processes = { running: async () => undefined }
const net = {
  http: () => Promise.reject(new Error('connection refused')),
  connect: () => Promise.reject(new Error('connection refused')),
}
const controlPlane = { root: '/etc/kubernetes', stateDirectory: '/var/lib/rollcall/control-plane' }

test(
  'an agent of a control-plane node tells in its Lease how that stands, by a sealing key that its certificate vouches for',
  onNode(async ({ cluster, machine, lease, node, pass }) => {
    const { disk } = machine
    const ca = await testCa('kubernetes', 1)
    const address = '10.0.0.1'
    const files = await kubeadmFiles({
      name: 'node-a',
      address,
      ca,
      now: cluster.clock.now(),
      random: seededRandom(3),
    })
    for (const folder of ['pki', 'manifests']) await disk.makeDirectory(`/etc/kubernetes/${folder}`, 0o755)
    for (const [path, text] of Object.entries(files))
      await disk.write(`/etc/kubernetes/${path}`, text, { mode: 0o600 })
    const keys = [generateSigner('Ed25519', seededRandom(9)).publicKey]
    const trustRootsPath = '/etc/kubernetes/trust-roots'
    await disk.write(trustRootsPath, encodeTrustRoots({ cluster: 'k', version: 1, threshold: 1, keys }), {
      mode: 0o644,
    })
    await machine.writeBootstrap()
    await cluster.start()
    await machine.start({ controlPlane, trustRootsPath }, { processes, net })
    await pass(30 * second)
    const report = async () =>
      decodeControlPlaneReport((await lease()).metadata.annotations?.[controlPlaneReportAnnotation])
    const first = await report()
    assert.equal(first?.healthy, false)
    const { uid = '' } = (await node()).metadata
    const { seal = '', proof } = first ?? {}
    const vouched = (about: string) =>
      proof &&
      isSealOf(seal, proof, { name: 'node-a', uid: about }, [cluster.ca.certificate], cluster.clock.now())
    assert.deepEqual([vouched(uid), vouched('another')], [true, false])

    const orders = { token: 1, sequence: 1, trust: 2, sealed: {}, crosses: {} }
    const annotations = { [controlPlaneAnnotation('client')]: encodeControlPlaneOrders(orders) }
    await cluster.admin.patch<KubeNode>(resources.nodes, { name: 'node-a' }, 'merge', {
      metadata: { annotations },
    })
    await pass(30 * second)
    const { client } = (await report())?.roles ?? {}
    assert.deepEqual([client?.sequence, client?.state], [1, 'Working'])
    assert.match(client?.why ?? '', /"client-2" not found/)
  }),
)

test('without pinned trust roots no agent takes orders for a control plane', () => {
  const options = {
    nodeName: 'node-a',
    addresses: [],
    certDirectory: '/c',
    kubeconfigPath: '/k',
    controlPlane,
  }
  assert.throws(
    () => startAgent(options, { clock: createManualClock(0), log: recordingLog() } as never),
    error => hasCode(error, 'USAGE') && /--trust-roots/.test(error.message),
  )
})
