import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeAddressProtection } from '../kube/admission/shipped.ts'
import {
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '../kube/admission/validating-policy.ts'
import type { KubeClient } from '../kube/client.ts'
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../kube/rollcall/certificate-policy.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'

const { policy, binding } = nodeAddressProtection

async function protect({ admin }: ControlledCluster): Promise<void> {
  await admin.create(validatingAdmissionPolicies, policy)
  await admin.create(validatingAdmissionPolicyBindings, binding)
  await calm()
}

/** `strict` on the cluster, with the controllers. */
async function judgedBy(cluster: ControlledCluster, spec: CertificatePolicySpec): Promise<void> {
  await cluster.admin.create(certificatePolicies, {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'CertificatePolicy',
    metadata: { name: 'default' },
    spec,
  } as KubeNode)
  await cluster.start({ approvalPolicy: undefined })
}

async function ask(cluster: ControlledCluster, node: string, ip: string): Promise<string> {
  const csr = await cluster.ask({ by: await cluster.node(node), node, ips: [ip] })
  const [event = ''] = await cluster.eventsOf(csr)
  return `${await cluster.fate(csr)} (${event})`
}

async function writeAddress(by: KubeClient, name: string, address: string): Promise<void> {
  const node = await by.get<KubeNode>(resources.nodes, { name })
  const status = { ...node.status, addresses: [{ type: 'InternalIP' as const, address }] }
  await by.update(resources.nodes, { ...node, status }, { subresource: 'status' })
  await calm()
}

test(
  'what a Node lists counts as protected only while nodes are seen to be unable to write it, and only if it never could',
  onCluster(async cluster => {
    await judgedBy(cluster, { preset: 'strict' })
    await cluster.register('old', [['InternalIP', '10.0.0.1']])
    assert.equal(await ask(cluster, 'old', '10.0.0.1'), 'pending (Warning EvidenceUnavailable)')
    await protect(cluster)
    await cluster.clock.advance(61_000)
    await cluster.register('new', [['InternalIP', '10.0.0.2']])
    assert.match(await ask(cluster, 'new', '10.0.0.2'), /^Approved SansProven, issued/)
    assert.equal(await ask(cluster, 'old', '10.0.0.1'), 'pending (Normal SanUnproven)')
    await cluster.admin.delete(validatingAdmissionPolicyBindings, { name: binding.metadata.name })
    await calm()
    assert.equal(await ask(cluster, 'new', '10.0.0.2'), 'pending (Warning EvidenceUnavailable)')
    assert.match(cluster.log.lines.join('\n'), /node addresses are not protected/)
  }),
)

test(
  'older Nodes count where the operator says that he looked at them',
  onCluster(async cluster => {
    await cluster.register('old', [['InternalIP', '10.0.0.1']])
    await protect(cluster)
    await judgedBy(cluster, { preset: 'strict', trustOlderNodes: true })
    assert.match(await ask(cluster, 'old', '10.0.0.1'), /^Approved SansProven/)
  }),
)

test(
  'under the protection a node can name itself and nothing more, whatever its roles say; who may set addresses can',
  onCluster(async cluster => {
    await protect(cluster)
    const node = await cluster.node('n')
    const made = (addresses: { type: 'Hostname' | 'InternalIP'; address: string }[]): KubeNode => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      status: { addresses },
    })
    const forbidden = { message: /status\.addresses is written by the cloud controller.*\(403 Forbidden\)/s }
    await cluster.grant('system:node:n', [
      { apiGroups: [''], resources: ['nodes'], verbs: ['set-addresses'] },
    ])
    await assert.rejects(
      node.create(resources.nodes, made([{ type: 'InternalIP', address: '10.0.0.9' }])),
      forbidden,
    )
    await assert.rejects(node.create(resources.nodes, made([{ type: 'Hostname', address: 'm' }])), forbidden)
    await node.create(resources.nodes, made([{ type: 'Hostname', address: 'n' }]))
    await assert.rejects(writeAddress(node, 'n', '10.0.0.9'), forbidden)
    await node.patch(resources.nodes, { name: 'n' }, 'merge', { metadata: { annotations: { a: 'b' } } })
    const rights = [{ apiGroups: [''], resources: ['nodes', 'nodes/status'], verbs: ['get', 'update'] }]
    await cluster.grant('cni', rights)
    await assert.rejects(writeAddress(await cluster.as('cni'), 'n', '10.0.0.9'), forbidden)
    await cluster.grant('ccm', [
      ...rights,
      { apiGroups: [''], resources: ['nodes'], verbs: ['set-addresses'] },
    ])
    await writeAddress(await cluster.as('ccm'), 'n', '10.0.0.9')
  }),
)

test(
  'the embedded API takes no admission policy that it would not enforce',
  onCluster(async ({ admin }) => {
    const weaker = { ...policy, spec: { ...policy.spec, validations: [{ expression: 'true' }] } }
    const other = { ...policy, metadata: { name: 'other' } }
    for (const object of [weaker, other])
      await assert.rejects(admin.create(validatingAdmissionPolicies, object), {
        message: /evaluates no CEL.*\(422 Invalid\)/s,
      })
    const warning = { ...binding, spec: { ...binding.spec, validationActions: ['Warn'] } }
    await assert.rejects(admin.create(validatingAdmissionPolicyBindings, warning), { message: /422 Invalid/ })
  }),
)
