import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyRule } from '../../kube/types.ts'
import type { Attributes } from './access.ts'
import { cachedRbacIndex } from './authorization/rbac-authorizer.ts'
import { accessOver, person, refusal } from './testing/access-over.ts'
import { memoryReader } from './testing/memory-reader.ts'
import { bindingOf, clusterRoleOf, groupSubject, roleOf, userSubject } from './testing/rbac-objects.ts'

const alice = person('alice', 'team')

const rule = (verbs: string, group: string, resources: string, resourceNames?: string): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(resourceNames !== undefined && { resourceNames: resourceNames.split(' ') }),
})
const paths = (...nonResourceURLs: string[]): PolicyRule => ({ verbs: ['get'], nonResourceURLs })

const matching: [rule: PolicyRule, asked: Omit<Attributes, 'user'>, allowed: boolean][] = [
  [rule('get', '', 'pods'), { verb: 'get', resource: 'pods', name: 'p' }, true],
  [rule('get', '', 'pods'), { verb: 'list', resource: 'pods' }, false],
  [rule('get', '', 'pods'), { verb: 'get', group: 'apps', resource: 'pods' }, false],
  [rule('get', '', 'pods'), { verb: 'get', resource: 'pods', subresource: 'log' }, false],
  [rule('get', '', 'pods/log'), { verb: 'get', resource: 'pods', subresource: 'log' }, true],
  [rule('get', '', 'pods/log'), { verb: 'get', resource: 'pods' }, false],
  [rule('get', '', '*'), { verb: 'get', resource: 'pods', subresource: 'log' }, true],
  [rule('*', '*', '*'), { verb: 'approve', group: 'x', resource: 'signers', name: 'a/b' }, true],
  [
    rule('get', 'apps', '*/scale'),
    { verb: 'get', group: 'apps', resource: 'sets', subresource: 'scale' },
    true,
  ],
  [rule('get', 'apps', '*/scale'), { verb: 'get', group: 'apps', resource: 'sets' }, false],
  [
    rule('get', 'apps', '*/scale'),
    { verb: 'get', group: 'apps', resource: 'sets', subresource: 'xscale' },
    false,
  ],
  [rule('get', '', 'nodes', 'a b'), { verb: 'get', resource: 'nodes', name: 'b' }, true],
  [rule('get', '', 'nodes', 'a b'), { verb: 'get', resource: 'nodes', name: 'c' }, false],
  [rule('list', '', 'nodes', 'a'), { verb: 'list', resource: 'nodes' }, false],
  [
    rule('list', '', 'nodes', 'a'),
    { verb: 'list', resource: 'nodes', fieldSelector: 'metadata.name=a' },
    true,
  ],
  [
    rule('list', '', 'nodes', 'a'),
    { verb: 'list', resource: 'nodes', fieldSelector: 'metadata.name!=a' },
    false,
  ],
  [rule('list', '', 'nodes', 'a'), { verb: 'list', resource: 'nodes', fieldSelector: '\\x=a' }, false],
  [
    rule('create', '', 'nodes', 'a'),
    { verb: 'create', resource: 'nodes', fieldSelector: 'metadata.name=a' },
    false,
  ],
  [rule('*', '*', '*'), { verb: 'get', path: '/healthz' }, false],
  [paths('/healthz'), { verb: 'get', path: '/healthz' }, true],
  [paths('/healthz'), { verb: 'get', path: '/healthz/etcd' }, false],
  [paths('/healthz'), { verb: 'put', path: '/healthz' }, false],
  [paths('/healthz/*'), { verb: 'get', path: '/healthz/etcd' }, true],
  [paths('/healthz/*'), { verb: 'get', path: '/healthz' }, false],
  [paths('*'), { verb: 'get', path: '/anything' }, true],
  [paths('/*'), { verb: 'get', resource: 'pods' }, false],
]

for (const [granted, asked, allowed] of matching) {
  test(`${JSON.stringify(granted)} ${allowed ? 'allows' : 'does not allow'} ${JSON.stringify(asked)}`, () => {
    const access = accessOver([
      clusterRoleOf('r', [granted]),
      bindingOf('b', 'ClusterRole/r', [userSubject('alice')]),
    ])
    assert.equal(access.authorize({ user: alice, ...asked }).allowed, allowed)
  })
}

const get = { verb: 'get', group: '', resource: 'pods', name: 'p' }
const role = clusterRoleOf('r', [rule('get', '', 'pods')])
const robot = { kind: 'ServiceAccount', name: 'robot' } as const

test('A decision names the binding, the role and the subject that allow it', () => {
  const access = accessOver([role, bindingOf('b', 'ClusterRole/r', [groupSubject('team')])])
  assert.deepEqual(access.authorize({ user: alice, ...get }), {
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "team"',
  })
})

test('A RoleBinding allows in its own namespace only', () => {
  const access = accessOver([role, bindingOf('b', 'ClusterRole/r', [userSubject('alice')], 'ns')])
  const decide = (namespace?: string) =>
    access.authorize({ user: alice, ...get, ...(namespace !== undefined && { namespace }) })
  assert.deepEqual(decide('ns'), {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "r" to User "alice"',
  })
  assert.equal(decide('other').allowed, false)
  assert.equal(decide().allowed, false)
})

test('A Role of another namespace or a ClusterRole of the same name is not the one bound', () => {
  const binding = bindingOf('b', 'Role/r', [userSubject('alice')], 'ns')
  const access = accessOver([role, roleOf('other', 'r', [rule('get', '', 'pods')]), binding])
  assert.deepEqual(access.authorize({ user: alice, ...get, namespace: 'ns' }), {
    allowed: false,
    reason: 'RBAC: role.rbac.authorization.k8s.io "r" not found',
  })
})

test('A ServiceAccount without a namespace is that of the RoleBinding, and nobody in a ClusterRoleBinding', () => {
  const user = person('system:serviceaccount:ns:robot')
  const local = accessOver([role, bindingOf('b', 'ClusterRole/r', [robot], 'ns')])
  assert.equal(
    local.authorize({ user, ...get, namespace: 'ns' }).reason,
    'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "r" to ServiceAccount "robot/ns"',
  )
  const everywhere = accessOver([role, bindingOf('b', 'ClusterRole/r', [robot])])
  assert.equal(everywhere.authorize({ user, ...get }).allowed, false)
})

test('A user whose name is that of a group does not get the rights of the group', () => {
  const access = accessOver([role, bindingOf('b', 'ClusterRole/r', [groupSubject('team')])])
  assert.equal(access.authorize({ user: person('team'), ...get }).allowed, false)
})

test('Roles that cannot be read are named once each in the reason', () => {
  const access = accessOver([
    bindingOf('a', 'ClusterRole/x', [userSubject('alice'), groupSubject('team')]),
    bindingOf('b', 'ClusterRole/y', [userSubject('alice')]),
  ])
  assert.equal(
    access.authorize({ user: alice, ...get }).reason,
    'RBAC: [clusterrole.rbac.authorization.k8s.io "x" not found, clusterrole.rbac.authorization.k8s.io "y" not found]',
  )
})

test('A change of any RBAC object counts at once', () => {
  const access = accessOver([role])
  const allowed = () => access.authorize({ user: alice, ...get, namespace: 'ns' }).allowed
  const binding = bindingOf('b', 'Role/local', [userSubject('alice')], 'ns')
  assert.equal(allowed(), false)
  access.reader.put(binding)
  assert.equal(allowed(), false)
  access.reader.put(roleOf('ns', 'local', [rule('get', '', 'pods')]))
  assert.equal(allowed(), true)
  access.reader.remove(binding)
  assert.equal(allowed(), false)
  access.reader.put(bindingOf('c', 'ClusterRole/r', [userSubject('alice')]))
  assert.equal(allowed(), true)
  access.reader.put(clusterRoleOf('r', []))
  assert.equal(allowed(), false)
})

test('RBAC objects are read once and then again only after a change', () => {
  const reader = memoryReader(role, bindingOf('b', 'ClusterRole/r', [userSubject('alice')]))
  let reads = 0
  const list: typeof reader.list = (resource, namespace) => {
    reads++
    return reader.list(resource, namespace)
  }
  const index = cachedRbacIndex({ ...reader, list })
  index()
  const afterFirst = reads
  assert.equal(index(), index())
  assert.equal(reads, afterFirst)
  reader.put(clusterRoleOf('other', []))
  index()
  assert.equal(reads, 2 * afterFirst)
})

test('system:masters may everything, without any object', () => {
  const user = person('root', 'system:masters')
  assert.deepEqual(accessOver([]).authorize({ user, verb: 'x', path: '/y' }), { allowed: true, reason: '' })
})

const selecting = (label: string) => ({
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
})

test('An aggregating ClusterRole grants what it selects, through several steps and around a circle', () => {
  const access = accessOver([
    clusterRoleOf('admin', [], selecting('to-admin')),
    clusterRoleOf('edit', [], { ...selecting('to-edit'), labels: { 'to-admin': 'true' } }),
    clusterRoleOf('circle', [], { ...selecting('to-admin'), labels: { 'to-edit': 'true' } }),
    clusterRoleOf('part', [rule('get', '', 'pods')], { labels: { 'to-edit': 'true' } }),
    bindingOf('b', 'ClusterRole/admin', [userSubject('alice')]),
  ])
  assert.equal(access.authorize({ user: alice, ...get }).allowed, true)
  access.reader.put(clusterRoleOf('part', [rule('get', '', 'pods')], { labels: { 'to-edit': 'no' } }))
  assert.equal(access.authorize({ user: alice, ...get }).allowed, false)
})

test('An aggregating ClusterRole does not grant rules of its own', () => {
  const access = accessOver([
    clusterRoleOf('r', [rule('get', '', 'pods')], selecting('nothing')),
    bindingOf('b', 'ClusterRole/r', [userSubject('alice')]),
  ])
  assert.equal(access.authorize({ user: alice, ...get }).allowed, false)
})

const texts: [asked: Omit<Attributes, 'user'>, message: string][] = [
  [
    { verb: 'list', group: '', resource: 'nodes' },
    'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope',
  ],
  [
    { verb: 'get', group: 'coordination.k8s.io', resource: 'leases', name: 'l', namespace: 'ns' },
    'leases.coordination.k8s.io "l" is forbidden: User "alice" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "ns"',
  ],
  [
    {
      verb: 'create',
      group: 'certificates.k8s.io',
      resource: 'certificatesigningrequests',
      subresource: 'nodeclient',
    },
    'certificatesigningrequests.certificates.k8s.io is forbidden: User "alice" cannot create resource "certificatesigningrequests/nodeclient" in API group "certificates.k8s.io" at the cluster scope',
  ],
  [{ verb: 'get', path: '/x' }, 'forbidden: User "alice" cannot get path "/x"'],
  [
    { verb: 'list', group: '', resource: 'nodes', fieldSelector: 'metadata.name=a' },
    'nodes "a" is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster scope',
  ],
]
for (const [asked, message] of texts) {
  test(`The refusal of ${JSON.stringify(asked)} has Kubernetes' text`, () => {
    assert.equal(
      refusal(() => accessOver([]).requireAllowed({ user: alice, ...asked })),
      message,
    )
  })
}

test('A user name cannot forge a line of the message', () => {
  const user = person('eve"\n\u202eadmin')
  const message = refusal(() => accessOver([]).requireAllowed({ user, verb: 'get', path: '/' }))
  assert.equal(message, 'forbidden: User "eve\\"\\n\\u202eadmin" cannot get path "/"')
})

test('The rules of a user are those of all bindings that reach the namespace', () => {
  const access = accessOver([
    clusterRoleOf('r', [rule('get', '', 'pods', 'p'), paths('/healthz')]),
    clusterRoleOf('local', [rule('list', '', 'pods')]),
    bindingOf('a', 'ClusterRole/r', [userSubject('alice')]),
    bindingOf('b', 'ClusterRole/local', [groupSubject('team')], 'ns'),
    bindingOf('c', 'ClusterRole/local', [groupSubject('team')], 'other'),
    bindingOf('d', 'ClusterRole/gone', [userSubject('alice')]),
  ])
  assert.deepEqual(access.rulesFor(alice, 'ns'), {
    resourceRules: [rule('get', '', 'pods', 'p'), rule('list', '', 'pods')],
    nonResourceRules: [paths('/healthz')],
    incomplete: false,
    evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
  })
})

test('The rules of a node cannot be listed completely', () => {
  const rules = accessOver([]).rulesFor(person('system:node:a', 'system:nodes'), 'ns')
  assert.equal(rules.incomplete, true)
  assert.equal(rules.evaluationError, 'node authorizer does not support user rule resolution')
})
