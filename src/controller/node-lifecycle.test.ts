import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatMicroTime } from '../kube/time-format.ts'
import { type KubeNode, type Lease, resources } from '../kube/types.ts'
import { type ControlledCluster, onCluster } from '../testing/controlled-cluster.ts'
import { gracePeriod, silentConditions } from './node-lifecycle.ts'

const namespace = 'kube-node-lease'

async function start(cluster: ControlledCluster): Promise<void> {
  await cluster.start({ only: ['node-lifecycle'] })
}

async function readyNode(cluster: ControlledCluster, name: string): Promise<void> {
  await cluster.register(name, [['InternalIP', '10.0.0.1']])
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'KubeletReady' },
    { type: 'DiskPressure', status: 'False' },
  ]
  const target = { name, subresource: 'status' }
  await cluster.admin.patch(resources.nodes, target, 'strategic-merge', { status: { conditions } })
}

const statusOf = async (cluster: ControlledCluster, name: string, type = 'Ready') => {
  const node = await cluster.admin.get<KubeNode>(resources.nodes, { name })
  const condition = node.status?.conditions?.find(entry => entry.type === type)
  return `${condition?.status} ${condition?.reason ?? ''}`.trim()
}

async function renew(cluster: ControlledCluster, name: string, clockError = 0): Promise<void> {
  const spec = { holderIdentity: name, renewTime: formatMicroTime(cluster.clock.now() + clockError) }
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
    spec,
  }
  const { items } = await cluster.admin.list<Lease>(resources.leases, { namespace })
  if (items.some(item => item.metadata.name === name)) {
    await cluster.admin.patch(resources.leases, { name, namespace }, 'merge', { spec })
  } else await cluster.admin.create(resources.leases, lease)
}

test(
  'a node goes Ready=Unknown 40 s after its Lease stopped, and not while it is renewed',
  onCluster(async cluster => {
    await readyNode(cluster, 'a')
    await start(cluster)
    for (let beat = 0; beat < 12; beat += 1) {
      await renew(cluster, 'a')
      await cluster.clock.advance(10_000)
      assert.equal(await statusOf(cluster, 'a'), 'True KubeletReady')
    }
    await cluster.clock.advance(gracePeriod - 10_000)
    assert.equal(await statusOf(cluster, 'a'), 'Unknown NodeStatusUnknown')
    assert.equal(await statusOf(cluster, 'a', 'DiskPressure'), 'Unknown NodeStatusUnknown')
  }),
)

test(
  'a node whose clock is an hour behind is alive as long as it renews',
  onCluster(async cluster => {
    await readyNode(cluster, 'a')
    await start(cluster)
    for (let beat = 0; beat < 12; beat += 1) {
      await renew(cluster, 'a', -3_600_000)
      await cluster.clock.advance(10_000)
    }
    assert.equal(await statusOf(cluster, 'a'), 'True KubeletReady')
  }),
)

test(
  'a node that came back and fell silent again is marked again',
  onCluster(async cluster => {
    await readyNode(cluster, 'a')
    await start(cluster)
    await cluster.clock.advance(gracePeriod)
    assert.equal(await statusOf(cluster, 'a'), 'Unknown NodeStatusUnknown')
    await renew(cluster, 'a')
    await readyNode(cluster, 'a')
    await cluster.clock.advance(gracePeriod - 1000)
    assert.equal(await statusOf(cluster, 'a'), 'True KubeletReady')
    await cluster.clock.advance(1000)
    assert.equal(await statusOf(cluster, 'a'), 'Unknown NodeStatusUnknown')
  }),
)

test('a silent node that already says so is left alone', () => {
  const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }
  const conditions = silentConditions(node, 0)
  assert.deepEqual(
    conditions?.map(({ type }) => type),
    ['Ready'],
  )
  assert.equal(silentConditions({ ...node, status: { conditions: conditions ?? [] } }, 0), undefined)
})
