import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { kubeadmBindings } from '../../src/cluster/seed-objects.ts'
import { createClient } from '../../src/kube/client.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { connectionOf } from '../support/api-connection.ts'
import { kubeadmRollover } from '../support/kubeadm-rollover.ts'
import { temporaryFolder } from '../support/rollcall-process.ts'
import { definitionsAndPolicies } from './deploy.ts'
import { noAssets } from './folder.ts'
import { type KubeadmNode, kubeadmNode } from './kubeadm-node.ts'

const skip = noAssets('etcd', 'kube-apiserver', 'kube-controller-manager')
const folder = temporaryFolder()
const stops: (() => Promise<unknown>)[] = []
let node: KubeadmNode | undefined
after(async () => {
  for (const stop of stops.toReversed()) await stop()
  await node?.stop()
  folder.remove()
})

test('a kubeadm-shaped control plane of real programs is given new client and serving CAs, with at most the restarts that were named', {
  skip,
  timeout: 1_200_000,
}, async () => {
  node = await kubeadmNode(folder.path)
  const transport = connectUndici(await connectionOf(join(node.root, 'admin.conf')))
  const client = createClient(transport)
  for (const { resource, object } of kubeadmBindings()) await client.create(resource, object)
  await definitionsAndPolicies(client)
  transport.closeConnections()
  const rollover = await kubeadmRollover(node, folder.path, stops)
  const before = { ...node.starts }
  await rollover.rotated('client')
  assert.deepEqual(rollover.restartsSince(before), { 'kube-apiserver': 1, 'kube-controller-manager': 3 })
  const between = { ...node.starts }
  await rollover.rotated('apiserver-serving')
  assert.deepEqual(rollover.restartsSince(between), { 'kube-apiserver': 1, 'kube-controller-manager': 2 })
})
