import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attributes } from '../access.ts'
import { accessOver, nodeUser, person } from '../testing/access-over.ts'
import { bindingOf, clusterRoleOf, userSubject } from '../testing/rbac-objects.ts'
import type { NodeGraph } from './node-graph.ts'

/** Pod p of namespace ns runs on node a and uses Secret s, ConfigMap c and ServiceAccount sa. */
const graph: NodeGraph = {
  related: (node, kind, namespace, name) =>
    node === 'a' &&
    namespace === 'ns' &&
    ['secrets/s', 'configmaps/c', 'serviceaccounts/sa', 'pods/p'].includes(`${kind}/${name}`),
}

const access = accessOver([], graph)
const lease = { group: 'coordination.k8s.io', resource: 'leases' }
const csr = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }
const csiNode = { group: 'storage.k8s.io', resource: 'csinodes' }
const slices = { group: 'resource.k8s.io', resource: 'resourceslices' }
const own = { namespace: 'kube-node-lease', name: 'a' }
const s = { resource: 'secrets', namespace: 'ns', name: 's' }

type Asked = Omit<Attributes, 'user'>

const allowed: Asked[] = [
  { verb: 'create', resource: 'nodes' },
  { verb: 'get', resource: 'nodes', name: 'a' },
  { verb: 'list', resource: 'nodes', fieldSelector: 'metadata.name=a' },
  { verb: 'watch', resource: 'nodes', fieldSelector: 'metadata.name=a' },
  { verb: 'update', resource: 'nodes', name: 'b' },
  { verb: 'patch', resource: 'nodes', subresource: 'status', name: 'a' },
  ...['create', 'get', 'list', 'watch'].map(verb => ({ verb, ...csr })),
  { verb: 'get', ...csr, name: 'of-another' },
  ...['get', 'update', 'patch', 'delete'].map(verb => ({ verb, ...lease, ...own })),
  { verb: 'create', ...lease, namespace: 'kube-node-lease' },
  { verb: 'get', ...csiNode, name: 'a' },
  { verb: 'create', ...csiNode },
  { verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' },
  { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
  { verb: 'list', resource: 'services', fieldSelector: 'spec.clusterIP!=None' },
  { verb: 'create', resource: 'events', namespace: 'default' },
  { verb: 'patch', resource: 'events', namespace: 'default', name: 'e' },
  { verb: 'watch', group: 'node.k8s.io', resource: 'runtimeclasses' },
  { verb: 'watch', group: 'storage.k8s.io', resource: 'csidrivers' },
  { verb: 'list', resource: 'pods', fieldSelector: 'spec.nodeName=a' },
  { verb: 'get', resource: 'pods', namespace: 'ns', name: 'p' },
  { verb: 'create', resource: 'pods', namespace: 'ns' },
  { verb: 'update', resource: 'pods', subresource: 'status', namespace: 'ns', name: 'p' },
  { verb: 'patch', resource: 'pods', subresource: 'status', namespace: 'ns', name: 'p' },
  { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'ns', name: 'p' },
  { verb: 'get', ...s },
  { verb: 'watch', resource: 'configmaps', namespace: 'ns', fieldSelector: 'metadata.name=c' },
  { verb: 'create', resource: 'serviceaccounts', subresource: 'token', namespace: 'ns', name: 'sa' },
  { verb: 'create', ...slices },
  { verb: 'deletecollection', ...slices, fieldSelector: 'spec.nodeName=a' },
]
for (const asked of allowed) {
  test(`A-60, A-61: a node may ${JSON.stringify(asked)}`, () => {
    assert.deepEqual(access.authorize({ user: nodeUser('a'), ...asked }), { allowed: true, reason: '' })
  })
}

const unrelated = "no relationship found between node 'a' and this object"
const refused: [asked: Asked, reason: string][] = [
  [{ verb: 'get', ...slices, name: 'other' }, unrelated],
  [{ verb: 'create', ...slices, subresource: 'status' }, 'cannot authorize ResourceSlice subresources'],
  [
    { verb: 'approve', ...slices },
    'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
  ],
  [{ verb: 'get', resource: 'nodes', name: 'b' }, "node 'a' cannot read 'b', only its own Node object"],
  [{ verb: 'list', resource: 'nodes' }, "node 'a' cannot read all nodes, only its own Node object"],
  [
    { verb: 'list', resource: 'nodes', fieldSelector: 'metadata.name!=b' },
    "node 'a' cannot read all nodes, only its own Node object",
  ],
  [{ verb: 'delete', resource: 'nodes', name: 'a' }, ''],
  [{ verb: 'get', resource: 'nodes', subresource: 'proxy', name: 'a' }, ''],
  [{ verb: 'get', resource: 'nodes', subresource: 'status', name: 'a' }, ''],
  [{ verb: 'update', ...csr, subresource: 'approval', name: 'x' }, ''],
  [{ verb: 'update', ...csr, subresource: 'status', name: 'x' }, ''],
  [{ verb: 'delete', ...csr, name: 'x' }, ''],
  [
    { verb: 'get', ...lease, namespace: 'kube-node-lease', name: 'b' },
    'can only access node lease with the same name as the requesting node',
  ],
  [
    { verb: 'get', ...lease, namespace: 'kube-system', name: 'a' },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    { verb: 'list', ...lease, namespace: 'kube-node-lease' },
    'can only get, create, update, patch, or delete a node lease',
  ],
  [
    { verb: 'get', ...csiNode, name: 'b' },
    'can only access CSINode with the same name as the requesting node',
  ],
  [{ verb: 'list', ...csiNode }, 'can only get, create, update, patch, or delete a CSINode'],
  [{ verb: 'get', ...csiNode, name: 'a', subresource: 'status' }, 'cannot authorize CSINode subresources'],
  [{ verb: 'get', ...s, name: 'other' }, unrelated],
  [{ verb: 'get', ...s, namespace: 'kube-system' }, unrelated],
  [{ verb: 'list', resource: 'secrets', namespace: 'ns' }, 'No Object name found'],
  [{ verb: 'list', resource: 'secrets' }, 'can only read namespaced object of this type'],
  [{ verb: 'update', ...s }, 'can only read resources of this type'],
  [{ verb: 'get', ...s, subresource: 'status' }, 'cannot read subresource'],
  [{ verb: 'list', resource: 'pods' }, 'can only list/watch pods with spec.nodeName field selector'],
  [
    { verb: 'list', resource: 'pods', fieldSelector: 'spec.nodeName=b' },
    'can only list/watch pods with spec.nodeName field selector',
  ],
  [{ verb: 'get', resource: 'pods', namespace: 'ns', name: 'other' }, unrelated],
  [{ verb: 'get', resource: 'pods', subresource: 'status', namespace: 'ns', name: 'p' }, ''],
  [{ verb: 'get', resource: 'pods', subresource: 'eviction', namespace: 'ns', name: 'p' }, ''],
  [{ verb: 'update', resource: 'pods', namespace: 'ns', name: 'p' }, ''],
  [{ verb: 'get', resource: 'pods', subresource: 'log', namespace: 'ns', name: 'p' }, ''],
  [
    { verb: 'get', resource: 'serviceaccounts', namespace: 'ns', name: 'sa' },
    'can only create tokens for individual service accounts',
  ],
  [
    { verb: 'create', resource: 'serviceaccounts', namespace: 'ns', name: 'sa' },
    'can only create token subresource of serviceaccount',
  ],
  [
    { verb: 'deletecollection', ...slices },
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
  ],
  [{ verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' }, ''],
  [{ verb: 'impersonate', resource: 'users', name: 'root' }, ''],
  [{ verb: 'get', path: '/metrics' }, ''],
]
for (const [asked, reason] of refused) {
  test(`A-60, A-61: a node may not ${JSON.stringify(asked)}`, () => {
    assert.deepEqual(access.authorize({ user: nodeUser('a'), ...asked }), { allowed: false, reason })
  })
}

const get = { verb: 'get', resource: 'nodes', name: 'a' }

test('system:node:a without group system:nodes is no node', () => {
  assert.deepEqual(access.authorize({ user: person('system:node:a'), ...get }), {
    allowed: false,
    reason: '',
  })
})

test('Another user in group system:nodes is no node', () => {
  const user = person('a', 'system:nodes')
  assert.deepEqual(access.authorize({ user, ...get }), { allowed: false, reason: '' })
})

test('A-61: a node without a name is refused everything, with a reason', () => {
  const decision = access.authorize({ user: nodeUser(''), verb: 'create', ...csr })
  assert.deepEqual(decision, { allowed: false, reason: 'unknown node for user "system:node:"' })
})

test('A name in upper case is another node', () => {
  assert.equal(access.authorize({ user: nodeUser('A'), ...get }).allowed, false)
})

test('A-61: RBAC can allow a node what the Node authorizer does not', () => {
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }]
  const binding = bindingOf('b', 'ClusterRole/r', [userSubject('system:node:a')])
  const open = accessOver([clusterRoleOf('r', rules), binding])
  const decision = open.authorize({ user: nodeUser('a'), ...get, name: 'b' })
  assert.match(decision.reason, /^RBAC: allowed by/)
})

test('The reasons of both authorizers are told when neither allows', () => {
  const open = accessOver([bindingOf('b', 'ClusterRole/gone', [userSubject('system:node:a')])])
  const decision = open.authorize({ user: nodeUser('a'), ...get, name: 'b' })
  assert.equal(
    decision.reason,
    "node 'a' cannot read 'b', only its own Node object\nRBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found",
  )
})

test('A-61: without a graph no Secret is related to a node', () => {
  assert.equal(accessOver([]).authorize({ user: nodeUser('a'), verb: 'get', ...s }).allowed, false)
})
