import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConfigMap, resources } from '../kube/types.ts'
import { calm, nodeStatusPolicy, onCluster } from '../testing/controlled-cluster.ts'

const place = { namespace: 'kube-system', name: 'machines' }
const machines = (text: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: place,
  data: { 'machines.yaml': text },
})

test(
  'J7: a node that bootstraps waits until the inventory knows its machine, and is let in at once then',
  onCluster(async cluster => {
    const { admin } = cluster
    await admin.create(resources.configMaps, machines('nodes: {}'))
    const inventory = { configMap: `${place.namespace}/${place.name}` }
    await cluster.start({ approvalPolicy: { ...nodeStatusPolicy, bootstrap: 'Inventory', inventory } })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.deepEqual(await cluster.eventsOf(name), ['Normal MachineUnknown'])
    const now = await admin.get<ConfigMap>(resources.configMaps, place)
    await admin.update(resources.configMaps, {
      ...now,
      ...machines('nodes: { a: {} }'),
      metadata: now.metadata,
    })
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'J8: a source outside the cluster says of a machine that it has joined; somebody else has the credential too',
  onCluster(async cluster => {
    const ask = async () => Buffer.from('{"machine":{"joined":true}}')
    await cluster.start({
      approvalPolicy: { ...nodeStatusPolicy, bootstrap: 'Inventory', evidenceFrom: ['machines'] },
      evidenceSources: [{ name: 'machines', timeout: 5_000, ask }],
    })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'Denied NodeExists')
  }),
)
