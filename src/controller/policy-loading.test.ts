import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeClient } from '../kube/client.ts'
import type { CertificatePolicy } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../kube/rollcall/certificate-policy.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

const policy = (spec: CertificatePolicy['spec']): CertificatePolicy => ({
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name: 'default' },
  spec,
})

test(
  'M5: while it is not known whether there is a policy a request waits, also one that it would deny',
  onCluster(async cluster => {
    await cluster.admin.create(certificatePolicies, policy({ evidence: 'NodeStatus' }))
    const loaded = Promise.withResolvers<void>()
    const client: KubeClient = {
      ...cluster.controllerClient,
      list: (async (resource, ...rest) => {
        if (resource.plural === certificatePolicies.plural) await loaded.promise
        return cluster.controllerClient.list(resource, ...rest)
      }) as KubeClient['list'],
    }
    await cluster.start({ client, approvalPolicy: undefined })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const by = await cluster.node('a')
    const good = await cluster.ask({ by, node: 'a', ips: ['10.0.0.1'] })
    const bad = await cluster.ask({ by, node: 'a', ips: ['127.0.0.1'] })
    assert.deepEqual([await cluster.fate(good), await cluster.fate(bad)], ['pending', 'pending'])
    loaded.resolve()
    await calm()
    assert.equal(await cluster.fate(good), 'Approved SansProven, issued')
    assert.equal(await cluster.fate(bad), 'Denied ReservedName')
  }),
)

test(
  'M6: a policy that changes while requests wait has them judged again',
  onCluster(async cluster => {
    const held = policy({ evidence: 'NodeStatus', mode: 'manual' })
    const created = await cluster.admin.create(certificatePolicies, held)
    await cluster.start({ approvalPolicy: undefined })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'rollcall.dev/Held ManualApproval')
    const now = await cluster.admin.get<CertificatePolicy>(certificatePolicies, {
      name: created.metadata.name,
    })
    await cluster.admin.update(certificatePolicies, { ...now, spec: { evidence: 'NodeStatus' } })
    await calm()
    assert.equal(await cluster.fate(name), 'rollcall.dev/Held ManualApproval, Approved SansProven, issued')
  }),
)

test(
  'a policy that cannot be used and has no good version yet decides nothing: it may have asked for a person',
  onCluster(async cluster => {
    const written = policy({ evidence: 'NodeStatus', mode: 'manual' })
    await cluster.admin.create(certificatePolicies, written)
    const stored = { ...written.spec, pools: [{ name: 'a', nodeLabels: { zone: 'x' } }] }
    const client: KubeClient = {
      ...cluster.controllerClient,
      // As of an API server that knows the schema alone.
      list: (async (resource, ...rest) => {
        const list = await cluster.controllerClient.list(resource, ...rest)
        if (resource.plural !== certificatePolicies.plural) return list
        return { ...list, items: list.items.map(item => ({ ...item, spec: stored })) }
      }) as KubeClient['list'],
      update: (async (resource, object, ...rest) =>
        resource.plural === certificatePolicies.plural
          ? object
          : cluster.controllerClient.update(resource, object, ...rest)) as KubeClient['update'],
    }
    await cluster.start({ client, approvalPolicy: undefined })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'pending')
    assert.deepEqual(await cluster.eventsOf(name), ['Warning NoPolicy'])
    const now = await cluster.admin.get<CertificatePolicy>(certificatePolicies, { name: 'default' })
    await cluster.admin.update(certificatePolicies, { ...now, spec: { evidence: 'NodeStatus' } })
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)
