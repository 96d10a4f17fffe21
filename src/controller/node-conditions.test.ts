import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeNode, resources } from '../kube/types.ts'
import { configMapLedger } from '../sign/config-map-ledger.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'
import type { ControllerName } from './controller-name.ts'
import { conditionRules } from './rbac.ts'

const hour = 3_600_000
/** Without node-lifecycle, which says of nodes without a Lease that it knows nothing of them. */
const only: ControllerName[] = ['approval', 'signing']
const nodeOf = ({ admin }: ControlledCluster, name: string) => admin.get<KubeNode>(resources.nodes, { name })

async function conditionsOf(cluster: ControlledCluster, name: string): Promise<string[]> {
  const { status } = await nodeOf(cluster, name)
  return (status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`)
}

test(
  'a Node says whether its certificates are valid; it is written when that changes, and not otherwise',
  onCluster(async cluster => {
    await cluster.grant('conditions', conditionRules)
    const ledger = configMapLedger({ ...cluster, client: cluster.controllerClient })
    const nodeConditions = { intervalSeconds: 60 }
    await cluster.start({ ledger, issued: ledger.issued, nodeConditions, only })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    await cluster.register('b', [['InternalIP', '10.0.0.2']])
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round++) {
        await cluster.clock.advance(61_000)
        await calm()
      }
    }
    await rounds(1)
    const issued = ['ClientCertificateValid True Issued', 'ServingCertificateValid True Issued']
    assert.deepEqual(await conditionsOf(cluster, 'a'), issued)
    assert.deepEqual(await conditionsOf(cluster, 'b'), [], 'nothing is said of what is not known')
    const { resourceVersion } = (await nodeOf(cluster, 'a')).metadata
    await rounds(5)
    assert.equal((await nodeOf(cluster, 'a')).metadata.resourceVersion, resourceVersion)

    cluster.clock.step(23 * hour)
    await rounds(2)
    assert.deepEqual(
      await conditionsOf(cluster, 'a'),
      issued.map(text => text.replace('Issued', 'RenewalOverdue')),
    )
    cluster.clock.step(2 * hour)
    await rounds(2)
    assert.deepEqual(
      await conditionsOf(cluster, 'a'),
      issued.map(text => text.replace('True Issued', 'False Expired')),
    )
  }),
)

test(
  "a kubelet's own conditions stay as they are",
  onCluster(async cluster => {
    const ledger = configMapLedger({ ...cluster, client: cluster.controllerClient })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const node = await nodeOf(cluster, 'a')
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'x' } as const
    const status = { ...node.status, conditions: [ready] }
    await cluster.admin.update(resources.nodes, { ...node, status }, { subresource: 'status' })
    await cluster.start({ ledger, issued: ledger.issued, nodeConditions: { intervalSeconds: 60 }, only })
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(61_000)
    await calm()
    // As kube-apiserver merges lists: what a patch adds comes before what it does not name.
    assert.deepEqual(await conditionsOf(cluster, 'a'), [
      'ClientCertificateValid True Issued',
      'Ready True KubeletReady',
    ])
  }),
)
