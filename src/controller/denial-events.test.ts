import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeClient } from '../kube/client.ts'
import { type KubeEvent, resources } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

test(
  'denials of one reason are one Event of the Node, counted up; it names the SAN, and bears no name of a request',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    for (let count = 0; count < 3; count++) {
      await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['127.0.0.1'] })
      await cluster.clock.advance(1_000)
    }
    await calm()
    const { items } = await cluster.admin.list<KubeEvent>(resources.events, { namespace: 'default' })
    const ofNode = items.filter(({ involvedObject }) => involvedObject.kind === 'Node')
    assert.deepEqual(
      ofNode.map(({ type, reason, count, involvedObject }) => [type, reason, count, involvedObject.name]),
      [['Warning', 'ReservedName', 3, 'a']],
    )
    assert.match(ofNode[0]?.message ?? '', /^SAN IP 127\.0\.0\.1 is /)
  }),
)

test(
  'a request whose decision cannot be written holds up no other',
  onCluster(async cluster => {
    const { controllerClient } = cluster
    const client: KubeClient = {
      ...controllerClient,
      update: (async (resource, object, options) => {
        if (object.metadata.name === 'csr-1') throw new Error('this one is cursed')
        return controllerClient.update(resource, object, options)
      }) as KubeClient['update'],
    }
    await cluster.start({ client })
    const cursed = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    for (const node of ['b', 'c', 'd']) {
      const name = await cluster.ask({ by: cluster.bootstrapper, node })
      assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
    }
    assert.equal(await cluster.fate(cursed), 'pending')
  }),
)
