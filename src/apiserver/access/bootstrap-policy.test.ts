import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ClusterRole, RoleBinding } from '../../kube/types.ts'
import type { Attributes } from './access.ts'
import type { PolicyObject } from './bootstrap-policy/policy-objects.ts'
import { bootstrapPolicy, reconcileBootstrapPolicy } from './bootstrap-policy.ts'
import { accessOver, person } from './testing/access-over.ts'
import { bindingOf, clusterRoleOf, userSubject } from './testing/rbac-objects.ts'

const named = (kind: string, name: string): PolicyObject => {
  const found = bootstrapPolicy().find(object => object.kind === kind && object.metadata.name === name)
  assert.ok(found, `${kind} ${name}`)
  return found
}
const keyOf = ({ kind, metadata }: PolicyObject) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`

test('A-40: every object is there once and carries the labels of Kubernetes', () => {
  const policy = bootstrapPolicy()
  assert.equal(new Set(policy.map(keyOf)).size, policy.length)
  for (const { metadata } of policy) {
    assert.equal(metadata.labels?.['kubernetes.io/bootstrapping'], 'rbac-defaults')
    assert.deepEqual(metadata.annotations, { 'rbac.authorization.kubernetes.io/autoupdate': 'true' })
  }
})

test('A-41: every binding names a role that is there', () => {
  const keys = new Set(bootstrapPolicy().map(keyOf))
  for (const object of bootstrapPolicy()) {
    if (!('roleRef' in object)) continue
    const { kind, name } = object.roleRef
    const namespace = kind === 'Role' ? (object.metadata.namespace ?? '') : ''
    assert.ok(keys.has(`${kind}/${namespace}/${name}`), `${object.metadata.name} -> ${kind} ${name}`)
  }
})

test('A-41: nothing is bound to bootstrappers, nodes or anonymous beyond public information', () => {
  const bindings = bootstrapPolicy().filter((object): object is RoleBinding => 'roleRef' in object)
  const boundTo = (name: string) =>
    bindings
      .filter(({ subjects }) => subjects?.some(subject => subject.name === name))
      .map(b => b.roleRef.name)
  assert.deepEqual(boundTo('system:bootstrappers'), [])
  assert.deepEqual(boundTo('system:nodes'), [])
  assert.deepEqual(boundTo('system:anonymous'), [])
  assert.deepEqual(boundTo('system:unauthenticated'), ['system:public-info-viewer'])
})

const policy = bootstrapPolicy()
const controller = person('system:serviceaccount:kube-system:certificate-controller')
const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
const csr = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }
const signers = { group: 'certificates.k8s.io', resource: 'signers' }

const account = person('system:serviceaccount:ns:name', 'system:serviceaccounts')

test('T-1: every service account reads trust bundles and what verifies its tokens, and nobody else does', () => {
  const access = accessOver(policy)
  const bundles = { verb: 'list', group: 'certificates.k8s.io', resource: 'clustertrustbundles' }
  const keys = { verb: 'get', path: '/openid/v1/jwks' }
  for (const asked of [bundles, keys, { verb: 'get', path: '/.well-known/openid-configuration' }]) {
    assert.ok(access.authorize({ user: account, ...asked }).allowed)
    assert.ok(!access.authorize({ user: person('u'), ...asked }).allowed)
  }
})

const decisions: [asked: Attributes, allowed: boolean][] = [
  [{ user: anonymous, verb: 'get', path: '/version' }, true],
  [{ user: anonymous, verb: 'get', path: '/readyz' }, true],
  [{ user: anonymous, verb: 'get', path: '/api' }, false],
  [{ user: anonymous, verb: 'get', path: '/metrics' }, false],
  [{ user: person('u'), verb: 'get', path: '/openapi/v3' }, true],
  [
    {
      user: person('u'),
      verb: 'create',
      group: 'authorization.k8s.io',
      resource: 'selfsubjectaccessreviews',
    },
    true,
  ],
  [{ user: person('u'), verb: 'list', group: '', resource: 'nodes' }, false],
  [{ user: person('u', 'system:monitoring'), verb: 'get', path: '/metrics' }, true],
  [{ user: controller, verb: 'sign', ...signers, name: 'kubernetes.io/kubelet-serving' }, true],
  [{ user: controller, verb: 'approve', ...signers, name: 'kubernetes.io/kubelet-serving' }, false],
  [
    { user: controller, verb: 'approve', ...signers, name: 'kubernetes.io/kube-apiserver-client-kubelet' },
    true,
  ],
  [{ user: controller, verb: 'update', ...csr, subresource: 'status', name: 'x' }, true],
  [{ user: controller, verb: 'create', ...csr }, false],
  [{ user: person('u', 'system:bootstrappers'), verb: 'create', ...csr }, false],
]
for (const [asked, allowed] of decisions) {
  const { user, ...what } = asked
  test(`A-40, A-41: by default ${user.username} (${user.groups}) ${allowed ? 'may' : 'may not'} ${JSON.stringify(what)}`, () => {
    assert.equal(accessOver(policy).authorize(asked).allowed, allowed)
  })
}

test('view reads no Secrets, edit writes them, admin gives roles; each has the rules of the one before', () => {
  const may = (role: string, verb: string, resource: string, group = '') => {
    const access = accessOver([...policy, bindingOf('b', `ClusterRole/${role}`, [userSubject('u')], 'ns')])
    return access.authorize({ user: person('u'), verb, group, resource, namespace: 'ns' }).allowed
  }
  const rbac = 'rbac.authorization.k8s.io'
  assert.deepEqual(
    ['view', 'edit', 'admin'].map(role => may(role, 'get', 'configmaps')),
    [true, true, true],
  )
  assert.deepEqual(
    ['view', 'edit', 'admin'].map(role => may(role, 'get', 'secrets')),
    [false, true, true],
  )
  assert.deepEqual(
    ['view', 'edit', 'admin'].map(role => may(role, 'create', 'roles', rbac)),
    [false, false, true],
  )
})

test('A policy of its own is complete, and an empty store gets all of it', () => {
  assert.deepEqual(reconcileBootstrapPolicy(bootstrapPolicy()), [])
  assert.deepEqual(
    reconcileBootstrapPolicy([]).map(write => write.object),
    bootstrapPolicy(),
  )
})

test('A rule that was taken away comes back beside what was added', () => {
  const added = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const changed = { ...named('ClusterRole', 'system:node-bootstrapper'), rules: [added] } as ClusterRole
  const [write, ...more] = reconcileBootstrapPolicy([
    ...bootstrapPolicy().filter(object => keyOf(object) !== keyOf(changed)),
    changed,
  ])
  assert.deepEqual(more, [])
  assert.equal(write?.operation, 'update')
  assert.ok(write && 'rules' in write.object)
  assert.deepEqual(write.object.rules, [
    added,
    {
      verbs: ['create', 'get', 'list', 'watch'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
    },
  ])
})

test('What is marked autoupdate=false stays as it is', () => {
  const kept = clusterRoleOf('system:discovery', [])
  kept.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
  const writes = reconcileBootstrapPolicy([kept])
  assert.ok(writes.every(({ object }) => keyOf(object) !== keyOf(kept)))
})

test('A binding to another role is made anew with the subjects of both', () => {
  const other = bindingOf('cluster-admin', 'ClusterRole/view', [userSubject('bob')])
  const write = reconcileBootstrapPolicy([other]).find(({ object }) => keyOf(object) === keyOf(other))
  assert.equal(write?.operation, 'recreate')
  assert.ok(write && 'roleRef' in write.object)
  const made = write.object
  assert.equal(made.roleRef.name, 'cluster-admin')
  assert.deepEqual(made.subjects?.map(subject => subject.name).sort(), ['bob', 'system:masters'])
})

test('One reconciliation of any damaged policy is enough', () => {
  const damage = fc.record({
    keep: fc.boolean(),
    rules: fc.boolean(),
    subjects: fc.boolean(),
    metadata: fc.boolean(),
  })
  const size = bootstrapPolicy().length
  fc.assert(
    fc.property(fc.array(damage, { minLength: size, maxLength: size }), damages => {
      const stored = new Map<string, PolicyObject>()
      bootstrapPolicy().forEach((object, at) => {
        const { keep, rules, subjects, metadata } = damages[at] ?? { keep: true }
        if (!keep) return
        if (rules && 'rules' in object) object.rules = []
        if (subjects && 'subjects' in object) object.subjects = []
        if (metadata) object.metadata.labels = {}
        stored.set(keyOf(object), object)
      })
      for (const { object } of reconcileBootstrapPolicy([...stored.values()]))
        stored.set(keyOf(object), object)
      assert.deepEqual(reconcileBootstrapPolicy([...stored.values()]), [])
    }),
    { numRuns: 50 },
  )
})
