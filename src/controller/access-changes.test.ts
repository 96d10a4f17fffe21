import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

test(
  'M11: a request whose access was refused is approved when a binding is made, without waiting for the next try',
  onCluster(async cluster => {
    const binding = { name: 'kubeadm:node-autoapprove-bootstrap' }
    const before = await cluster.admin.get(resources.clusterRoleBindings, binding)
    await cluster.admin.delete(resources.clusterRoleBindings, binding)
    await cluster.start()
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    // So often refused that the next try is minutes away.
    await cluster.clock.advance(300_000)
    await calm()
    assert.equal(await cluster.fate(name), 'pending')
    const { uid: _uid, resourceVersion: _version, ...metadata } = before.metadata
    await cluster.admin.create(resources.clusterRoleBindings, { ...before, metadata })
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)
