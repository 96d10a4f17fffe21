import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import { createClient, isStatus, type KubeClient } from '../kube/client.ts'
import type { Transport } from '../kube/transport.ts'
import { type ClusterRole, type Role, type RoleBinding, resources } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { decodePem } from '../x509/pem.ts'
import { exitCodeOf } from './diagnose.ts'
import { type ExaminedCluster, onFleet } from './testing/examined-cluster.ts'

const role: ClusterRole = parse(
  readFileSync(new URL('../../deploy/rbac/rollcall-viewer.yaml', import.meta.url), 'utf8'),
)

/** An administrator who acts as this user, as `kubectl --as` does. */
async function actingAs(cluster: ExaminedCluster, user: string): Promise<KubeClient> {
  const { api, ca, clock } = cluster
  const pem = await issueCertificate({
    ca,
    subject: nameOf({ commonName: 'admin', organizations: ['system:masters'] }),
    spki: ca.signer.publicKey,
    notBefore: clock.now() - 60_000,
    notAfter: clock.now() + 3_600_000,
    random: seededRandom(95),
    extensions: { extendedKeyUsage: [oids.clientAuth] },
  })
  const certificates = decodePem(pem).map(({ bytes }) => bytes)
  const peer = { certificates, remoteAddress: '127.0.0.1' }
  const transport: Transport = inProcessTransport(api, peer, { 'impersonate-user': user })
  return createClient(transport)
}

async function bind(cluster: ExaminedCluster, user: string): Promise<void> {
  await cluster.admin.create(resources.clusterRoles, role)
  await cluster.admin.create<RoleBinding>(resources.clusterRoleBindings, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'rollcall-viewer' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'rollcall-viewer' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
  })
}

test(
  'the role rollcall-viewer reads everything but the bootstrap tokens, whose checks are SKIP',
  onFleet(async cluster => {
    await bind(cluster, 'viewer')
    const client = await actingAs(cluster, 'viewer')
    const gathered = await cluster.gather({ client })
    const refused = Object.entries(gathered).filter(
      ([, { status }]) => status === 'forbidden' || status === 'failed',
    )
    assert.deepEqual(
      refused.map(([name]) => name),
      ['bootstrapTokens', 'controlPlane', 'approvers', 'tokenKeys'],
    )
    const report = await cluster.finds('Z04', [], { client })
    assert.equal(report.findings[0]?.severity, 'info')
    const skipped = report.checks.filter(({ status }) => status === 'SKIP')
    assert.deepEqual(
      skipped.map(({ id }) => id),
      ['A01', 'A03', 'A04', 'A05', 'A06', 'A07', 'A08', 'C14', 'E20', 'G03', 'I17'],
    )
    assert.equal(exitCodeOf(report), 4)
  }),
)

test(
  'it finds what an administrator finds',
  onFleet(async cluster => {
    await bind(cluster, 'viewer')
    await cluster.admin.delete(resources.clusterRoleBindings, { name: 'kubeadm:node-autoapprove-bootstrap' })
    await cluster.finds('C01', ['Z04'], { client: await actingAs(cluster, 'viewer') })
  }),
)

test(
  'it writes nothing and reads no other ConfigMap',
  onFleet(async cluster => {
    await bind(cluster, 'viewer')
    const client = await actingAs(cluster, 'viewer')
    const forbidden = (error: unknown) => isStatus(error, 'Forbidden')
    await assert.rejects(client.list(resources.configMaps), forbidden)
    await assert.rejects(client.list(resources.secrets), forbidden)
    await assert.rejects(client.delete(resources.nodes, { name: 'worker-1' }), forbidden)
    const writing = role.rules?.filter(({ resources: of }) => !of?.includes('subjectaccessreviews'))
    assert.deepEqual([...new Set(writing?.flatMap(({ verbs }) => verbs))].sort(), ['get', 'list', 'watch'])
  }),
)

test(
  'with the role rollcall-control-plane-viewer it sees how the control plane was started',
  onFleet(async cluster => {
    const url = new URL('../../deploy/rbac/rollcall-control-plane-viewer.yaml', import.meta.url)
    const { metadata, rules = [] }: Role = parse(readFileSync(url, 'utf8'))
    await bind(cluster, 'viewer')
    await cluster.grant('viewer', rules, metadata.namespace)
    const { controlPlane } = await cluster.gather({ client: await actingAs(cluster, 'viewer') })
    assert.deepEqual(controlPlane, { status: 'ok', value: [] })
  }),
)

test(
  'without any right every check of the cluster is SKIP and none is OK',
  onFleet(async cluster => {
    const report = await cluster.finds('Z04', [], { client: await actingAs(cluster, 'nobody') })
    assert.match(JSON.stringify(report.findings[0]?.evidence), /User \\"nobody\\" cannot list resource/)
    assert.equal(exitCodeOf(report), 4)
    const ok = report.checks.filter(({ status }) => status === 'OK').map(({ id }) => id)
    assert.deepEqual(ok, ['A12', 'A13', 'A20', 'G09', 'I02', 'Z05'], 'what anybody may see by TLS')
  }),
)
