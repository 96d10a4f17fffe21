import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type KubeClient } from '../../src/kube/client.ts'
import type { Transport } from '../../src/kube/transport.ts'
import {
  type ClusterRole,
  type KubeObject,
  type PolicyRule,
  type RoleBinding,
  resources,
} from '../../src/kube/types.ts'
import { type ControlledCluster, onCluster } from '../../src/testing/controlled-cluster.ts'
import { whoAmI } from '../../src/testing/who-am-i.ts'

// SECURITY.md, adversary 2: who may write roles and bindings, and nothing else of weight, wants to become administrator.

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const writer = 'writer'
const all: PolicyRule = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const everyVerb = ['get', 'list', 'create', 'update', 'patch', 'delete']
const own: PolicyRule[] = [
  {
    apiGroups: [apiGroup],
    resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    verbs: everyVerb,
  },
  { apiGroups: [''], resources: ['configmaps', 'serviceaccounts'], verbs: everyVerb },
]
const clusterRole = (name: string, more: Partial<ClusterRole>): ClusterRole => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  ...more,
})
const toMyself = (
  kind: 'ClusterRoleBinding' | 'RoleBinding',
  role: string,
  namespace?: string,
): RoleBinding => ({
  apiVersion,
  kind,
  metadata: { name: 'grab', ...(namespace && { namespace }) },
  roleRef: { apiGroup, kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', apiGroup, name: writer }],
})

interface Scene {
  cluster: ControlledCluster
  mallory: KubeClient
  transport: Transport
}

function asWriter(run: (scene: Scene) => Promise<void>): () => Promise<void> {
  return onCluster(async cluster => {
    await cluster.grant(writer, own)
    const transport = await cluster.transportAs(writer)
    await run({ cluster, mallory: createClient(transport), transport })
  })
}

/** A client that says in each request that it is somebody else. */
function impersonating(transport: Transport, headers: Readonly<Record<string, string>>): KubeClient {
  return createClient({
    request: request => transport.request({ ...request, headers: { ...request.headers, ...headers } }),
    closeConnections: () => transport.closeConnections(),
  })
}

const attacks: [what: string, attack: (scene: Scene) => Promise<unknown>][] = [
  [
    'a role with all rights',
    ({ mallory }) => mallory.create(resources.clusterRoles, clusterRole('all', { rules: [all] })),
  ],
  [
    'a role that reads Secrets',
    ({ mallory }) => {
      const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
      return mallory.create(resources.clusterRoles, clusterRole('read', { rules }))
    },
  ],
  [
    'a role that approves for the kubelets’ signer',
    ({ mallory }) => {
      const rule = {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: ['kubernetes.io/kubelet-serving'],
        verbs: ['approve'],
      }
      return mallory.create(resources.clusterRoles, clusterRole('approve', { rules: [rule] }))
    },
  ],
  [
    'more rights in the role that it has',
    async ({ mallory }) => {
      const role = await mallory.get<ClusterRole>(resources.clusterRoles, { name: `granted:${writer}` })
      await mallory.update(resources.clusterRoles, { ...role, rules: [...own, all] })
    },
  ],
  [
    'more rights by a patch',
    ({ mallory }) =>
      mallory.patch(resources.clusterRoles, { name: `granted:${writer}` }, 'merge', { rules: [all] }),
  ],
  [
    'a role that gathers the rules of others',
    ({ mallory }) => {
      const clusterRoleSelectors = [{ matchLabels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } }]
      return mallory.create(
        resources.clusterRoles,
        clusterRole('gather', { aggregationRule: { clusterRoleSelectors } }),
      )
    },
  ],
  [
    'being bound to cluster-admin',
    ({ mallory }) =>
      mallory.create(resources.clusterRoleBindings, toMyself('ClusterRoleBinding', 'cluster-admin')),
  ],
  [
    'being bound to cluster-admin in one namespace',
    ({ mallory }) =>
      mallory.create(resources.roleBindings, toMyself('RoleBinding', 'cluster-admin', 'kube-system')),
  ],
  [
    'the right to escalate, by giving it to itself',
    ({ mallory }) => {
      const rules = [{ apiGroups: [apiGroup], resources: ['clusterroles'], verbs: ['escalate', 'bind'] }]
      return mallory.create(resources.clusterRoles, clusterRole('escalate', { rules }))
    },
  ],
  [
    'impersonating the administrator',
    ({ transport }) => whoAmI(impersonating(transport, { 'impersonate-user': 'admin' })),
  ],
  [
    'impersonating a member of system:masters',
    ({ transport }) =>
      whoAmI(impersonating(transport, { 'impersonate-user': writer, 'impersonate-group': 'system:masters' })),
  ],
  [
    'a token of another service account',
    ({ mallory }) => {
      const request: KubeObject = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { name: 'default', namespace: 'kube-system' },
      }
      return mallory.create(resources.serviceAccounts, request, { subresource: 'token' })
    },
  ],
]
for (const [what, attack] of attacks) {
  test(
    `${what}: forbidden to who may only write policy`,
    asWriter(async scene => {
      await assert.rejects(attack(scene), { message: /is forbidden: .* \(403 Forbidden\)/s })
      const probe = scene.mallory.list(resources.secrets, { namespace: 'kube-system' })
      await assert.rejects(probe, { message: /is forbidden/ }, 'it has not got more rights by the way')
    }),
  )
}

test(
  'a binding to a role that is not there yet is refused, or whoever makes the role would give its rights away',
  asWriter(async ({ mallory }) => {
    const binding = toMyself('ClusterRoleBinding', 'later')
    await assert.rejects(mallory.create(resources.clusterRoleBindings, binding), {
      message: /"later" not found \(404 NotFound\)/,
    })
  }),
)

test(
  'what it holds it may give to others: the refusals above are no refusals of everything',
  asWriter(async ({ cluster, mallory }) => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
    await mallory.create(resources.clusterRoles, clusterRole('harmless', { rules }))
    const binding = toMyself('ClusterRoleBinding', 'harmless')
    await mallory.create(resources.clusterRoleBindings, {
      ...binding,
      subjects: [{ kind: 'User', apiGroup, name: 'friend' }],
    })
    const friend = await cluster.as('friend')
    const { metadata } = await friend.get(resources.configMaps, {
      name: 'cluster-info',
      namespace: 'kube-public',
    })
    assert.equal(metadata.name, 'cluster-info')
  }),
)

test(
  'who may write every ConfigMap does not bring a CA back that was dropped: what the API trusts is written by who may sign, and deleted by nobody',
  asWriter(async ({ cluster, mallory }) => {
    const target = { name: 'rollcall-apiserver', namespace: 'kube-system' }
    const state = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: target,
      data: { client: '{"judgesBy":1}' },
    }
    const own = { ...state, metadata: { ...target, name: 'mine' } }
    await mallory.create(resources.configMaps, own)
    const refused = { message: /which CAs are in force/ }
    await assert.rejects(mallory.create(resources.configMaps, state), refused)
    const { admin } = cluster
    await admin.create(resources.configMaps, state)
    const data = { client: '{"judgesBy":2}' }
    await assert.rejects(mallory.patch(resources.configMaps, target, 'merge', { data }), refused)
    await assert.rejects(mallory.delete(resources.configMaps, target), refused)
    await admin.patch(resources.configMaps, target, 'merge', { data })
    await assert.rejects(admin.delete(resources.configMaps, target), refused)
  }),
)
