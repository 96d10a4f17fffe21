import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeNode, resources } from '../../kube/types.ts'
import { type ControlledCluster, calm, onCluster } from '../../testing/controlled-cluster.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { podResource } from '../pod.ts'
import { createSimulatedNode, type SimulatedNode } from '../testing/simulated-node.ts'
import type { ApiPod } from './mirror-pod.ts'
import { MirrorPods } from './mirror-pods.ts'

interface MirroringNode extends SimulatedNode {
  mirrors: MirrorPods
  shown(): Promise<ApiPod[]>
}

/** A simulated node with static pods against the real embedded API, NodeRestriction and all. */
function onMirroringNode(run: (node: MirroringNode, cluster: ControlledCluster) => Promise<void>) {
  return onCluster(async cluster => {
    const node = await createSimulatedNode(cluster.clock)
    const client = await cluster.node('node-a')
    await cluster.register('node-a', [['InternalIP', '10.0.0.1']])
    const { pods, clock } = node
    const mirrors = new MirrorPods({
      client,
      nodeName: 'node-a',
      pods,
      clock,
      random: seededRandom(5),
      log: recordingLog(),
      hostAddress: () => '10.0.0.1',
    })
    pods.onChange(() => mirrors.update())
    const shown = async () => (await cluster.admin.list<ApiPod>(podResource)).items
    try {
      await run({ ...node, mirrors, shown }, cluster)
    } finally {
      await mirrors.stop()
      await pods.stop()
    }
  })
}
const apiNode = ({ admin }: ControlledCluster) => admin.get<KubeNode>(resources.nodes, { name: 'node-a' })

test(
  'static pods run before the API is there, and show in it when it is',
  onMirroringNode(async (node, cluster) => {
    await node.write('web', {}, { labels: { app: 'web' } })
    node.pods.start()
    await node.pass(3)
    assert.equal(node.runtime.events.length, 1)
    assert.deepEqual(await node.shown(), [])

    node.mirrors.nodeSeen(await apiNode(cluster))
    node.mirrors.start()
    await node.pass(3)
    const [mirror] = await node.shown()
    assert.ok(mirror)
    const [pod] = node.runtime.pods()
    assert.deepEqual(
      [
        mirror.metadata.name,
        mirror.metadata.labels,
        mirror.metadata.annotations?.['kubernetes.io/config.mirror'],
      ],
      ['web-node-a', { app: 'web' }, pod?.metadata.uid],
    )
    assert.notEqual(mirror.metadata.uid, pod?.metadata.uid, 'the API gives it a uid of its own')
    assert.deepEqual([mirror.status?.phase, mirror.status?.podIP], ['Running', '10.0.0.1'])
    const ready = mirror.status?.conditions?.find(({ type }) => type === 'Ready')
    assert.deepEqual([ready?.status, typeof ready?.lastTransitionTime], ['True', 'string'])
  }),
)

test(
  'status, edits and removals follow; a deleted mirror comes back and the pod goes on',
  onMirroringNode(async (node, cluster) => {
    await node.write('web')
    node.pods.start()
    node.mirrors.nodeSeen(await apiNode(cluster))
    node.mirrors.start()
    await node.pass(3)
    const [first] = await node.shown()
    node.runtime.end('c', 1)
    await node.pass(2)
    const [crashed] = await node.shown()
    assert.equal(crashed?.metadata.uid, first?.metadata.uid)
    assert.equal(crashed?.status?.containerStatuses?.[0]?.restartCount, 1)

    const before = node.runtime.events.length
    await cluster.admin.delete(
      podResource,
      { namespace: 'default', name: 'web-node-a' },
      { gracePeriodSeconds: 0 },
    )
    await node.pass(2)
    const [again] = await node.shown()
    assert.ok(again && again.metadata.uid !== first?.metadata.uid)
    assert.equal(node.runtime.events.length, before, 'only the mirror was deleted')

    await node.write('web', { terminationGracePeriodSeconds: 3 })
    await node.pass(3)
    const [edited] = await node.shown()
    assert.ok(edited && edited.metadata.uid !== again.metadata.uid)
    await node.remove('web')
    await node.pass(3)
    assert.deepEqual(await node.shown(), [])
  }),
)

test(
  'a Node that was deleted and registered again gets mirrors of its own',
  onMirroringNode(async (node, cluster) => {
    await node.write('web')
    node.pods.start()
    node.mirrors.nodeSeen(await apiNode(cluster))
    node.mirrors.start()
    await node.pass(3)
    await cluster.admin.delete(resources.nodes, { name: 'node-a' })
    node.mirrors.nodeSeen(undefined)
    await calm()
    await cluster.register('node-a', [['InternalIP', '10.0.0.1']])
    const { metadata } = await apiNode(cluster)
    node.mirrors.nodeSeen(await apiNode(cluster))
    await node.pass(3)
    const owners = (await node.shown()).map(pod => pod.metadata.ownerReferences?.[0]?.uid)
    assert.deepEqual(owners, [metadata.uid])
  }),
)

test(
  'nothing is written while nothing changes',
  onMirroringNode(async (node, cluster) => {
    await node.write('web')
    node.pods.start()
    node.mirrors.nodeSeen(await apiNode(cluster))
    node.mirrors.start()
    await node.pass(3)
    const [before] = await node.shown()
    await node.pass(60)
    const [after] = await node.shown()
    assert.equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion)
  }),
)
