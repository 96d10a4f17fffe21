import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import type { CertificatePolicy, CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../kube/rollcall/certificate-policy.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'

const policyOf = (name: string, spec: CertificatePolicySpec): CertificatePolicy => ({
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name },
  spec,
})

async function create(
  { admin }: ControlledCluster,
  name: string,
  spec: CertificatePolicySpec,
): Promise<void> {
  await admin.create(certificatePolicies, policyOf(name, spec))
  await calm()
}

async function change(
  { admin }: ControlledCluster,
  name: string,
  spec: CertificatePolicySpec,
): Promise<void> {
  const now = await admin.get<CertificatePolicy>(certificatePolicies, { name })
  await admin.update(certificatePolicies, { ...now, spec })
  await calm()
}

async function conditionsOf({ admin }: ControlledCluster, name: string): Promise<string[]> {
  const { metadata, status } = await admin.get<CertificatePolicy>(certificatePolicies, { name })
  assert.equal(status?.observedGeneration, metadata.generation)
  return (status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`)
}

/** A node with its own address asks for its serving certificate. */
async function asking(cluster: ControlledCluster, name = 'worker-1', address = '10.0.0.11'): Promise<string> {
  await cluster.register(name, [['InternalIP', address]])
  return cluster.ask({ by: await cluster.node(name), node: name, dns: [], ips: [address] })
}

test(
  'without a policy serving requests stay pending and the log says so; one that is created decides them',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: undefined })
    const csr = await asking(cluster)
    assert.equal(await cluster.fate(csr), 'pending')
    assert.deepEqual(await cluster.eventsOf(csr), ['Warning NoPolicy'])
    assert.match(cluster.log.lines.join('\n'), /warn: no CertificatePolicy named default/)
    await create(cluster, 'default', { evidence: 'NodeStatus' })
    assert.equal(await cluster.fate(csr), 'Approved SansProven, issued')
    assert.deepEqual(await conditionsOf(cluster, 'default'), [
      'Accepted=True Accepted',
      'InForce=True InForce',
    ])
  }),
)

test(
  'a policy that changes is heeded at once, with the inventory that it names',
  onCluster(async cluster => {
    await create(cluster, 'default', { evidence: 'NodeStatus', mode: 'dryRun' })
    await cluster.start({ approvalPolicy: undefined })
    const csr = await asking(cluster)
    assert.equal(await cluster.fate(csr), 'pending')
    await change(cluster, 'default', {
      evidence: 'Inventory',
      inventory: { configMap: 'kube-system/inventory' },
    })
    assert.equal(await cluster.fate(csr), 'pending')
    const inventory: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'inventory', namespace: 'kube-system' },
      data: { nodes: 'nodes: { worker-1: { addresses: [10.0.0.11] } }' },
    }
    await cluster.admin.create(resources.configMaps, inventory)
    await calm()
    assert.equal(await cluster.fate(csr), 'Approved SansProven, issued')
  }),
)

test(
  'a policy that is deleted leaves requests to a person again',
  onCluster(async cluster => {
    await create(cluster, 'default', { evidence: 'NodeStatus' })
    await cluster.start({ approvalPolicy: undefined })
    await cluster.admin.delete(certificatePolicies, { name: 'default' })
    await calm()
    const csr = await asking(cluster)
    assert.deepEqual(await cluster.eventsOf(csr), ['Warning NoPolicy'])
  }),
)

test(
  'a policy of another name is in force nowhere, and its status says so',
  onCluster(async cluster => {
    await create(cluster, 'default', { evidence: 'Inventory', inventory: { configMap: 'kube-system/none' } })
    await cluster.start({ approvalPolicy: undefined })
    await create(cluster, 'lax', { preset: 'lab' })
    const csr = await asking(cluster)
    assert.equal(await cluster.fate(csr), 'pending')
    assert.deepEqual(await conditionsOf(cluster, 'lax'), [
      'Accepted=True Accepted',
      'InForce=False OtherInForce',
    ])
  }),
)

test(
  'a shadow decides nothing; what it would have decided otherwise is in its status, in the log, and counted once',
  onCluster(async cluster => {
    await create(cluster, 'default', { evidence: 'NodeStatus' })
    const metrics = new Registry()
    await create(cluster, 'next', {
      shadowOf: 'default',
      evidence: 'NodeStatus',
      sans: { ipRanges: ['10.1.0.0/16'] },
    })
    await cluster.start({ approvalPolicy: undefined, metrics })
    const csr = await asking(cluster)
    assert.equal(await cluster.fate(csr), 'Approved SansProven, issued')
    await asking(cluster, 'worker-2', '10.1.0.2')
    await cluster.clock.advance(31_000)
    await calm()
    const { status } = await cluster.admin.get<CertificatePolicy>(certificatePolicies, { name: 'next' })
    assert.deepEqual(status?.shadow, {
      compared: 2,
      different: 1,
      latest: [
        { request: csr, node: 'worker-1', enforced: 'Approve SansProven', shadow: 'Deny SanNotAllowed' },
      ],
    })
    assert.match(
      await metrics.metrics(),
      /rollcall_policy_shadow_verdicts_total\{enforced="Approve",shadow="Deny"\} 1\n/,
    )
    assert.deepEqual(await conditionsOf(cluster, 'next'), ['Accepted=True Accepted', 'InForce=False Shadow'])
    assert.equal(
      cluster.log.lines.filter(line => line.includes('a shadow policy judges otherwise')).length,
      1,
    )
  }),
)
