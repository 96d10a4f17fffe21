import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ClusterRole, KubeObject, PolicyRule, RbacSubject } from '../../../kube/types.ts'
import type { Attributes } from '../access.ts'
import { ruleAllows } from '../authorization/rule-matches.ts'
import { bootstrapPolicy } from '../bootstrap-policy.ts'
import { accessOver, person, refusal } from '../testing/access-over.ts'
import { admissionRequest } from '../testing/admission-request.ts'
import { bindingOf, clusterRoleOf, roleOf, userSubject } from '../testing/rbac-objects.ts'
import { uncovered } from './rule-covers.ts'

const alice = person('alice')
const toAlice: RbacSubject[] = [userSubject('alice')]
const grants =
  'user "alice" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:'

const rule = (verbs: string, resources: string, group = '', resourceNames?: string[]): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(resourceNames && { resourceNames }),
})

/** An Access in which alice holds these rules everywhere, beside the objects given. */
function aliceHolding(rules: PolicyRule[], ...more: KubeObject[]) {
  return accessOver([
    clusterRoleOf('alice', rules),
    bindingOf('alice', 'ClusterRole/alice', toAlice),
    ...more,
  ])
}

const plural = (object: KubeObject) => `${object.kind.toLowerCase()}s`

function createBy(access: ReturnType<typeof accessOver>, object: KubeObject, user = alice): string {
  return refusal(() => access.admit(admissionRequest('CREATE', plural(object), { user, object })))
}

function update(access: ReturnType<typeof accessOver>, object: KubeObject, oldObject: KubeObject): string {
  return refusal(() =>
    access.admit(admissionRequest('UPDATE', plural(object), { user: alice, object, oldObject })),
  )
}

test('A role of rights that one holds may be made', () => {
  const access = aliceHolding([rule('get list', 'pods'), rule('get', 'pods/log')])
  assert.equal(createBy(access, clusterRoleOf('r', [rule('get', 'pods pods/log')])), '')
})

test('A role of rights that one lacks is refused, with those that are missing', () => {
  const access = aliceHolding([rule('get', 'pods')])
  const wanted = [rule('get list watch', 'pods secrets'), { verbs: ['get'], nonResourceURLs: ['/x'] }]
  assert.equal(
    createBy(access, clusterRoleOf('r', wanted)),
    `clusterroles.rbac.authorization.k8s.io "r" is forbidden: ${grants}\n` +
      '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}\n' +
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}\n' +
      '{NonResourceURLs:["/x"], Verbs:["get"]}',
  )
})

test('Names that one lacks are told', () => {
  const access = aliceHolding([rule('get', 'secrets', '', ['a'])])
  assert.equal(createBy(access, clusterRoleOf('r', [rule('get', 'secrets', '', ['a'])])), '')
  assert.match(
    createBy(access, clusterRoleOf('r', [rule('get', 'secrets', '', ['a', 'b'])])),
    /\{APIGroups:\[""\], Resources:\["secrets"\], ResourceNames:\["b"\], Verbs:\["get"\]\}$/,
  )
  assert.match(createBy(access, clusterRoleOf('r', [rule('get', 'secrets')])), /not currently held/)
})

test('A role that cannot be read is told with what is missing', () => {
  const access = aliceHolding([], bindingOf('x', 'ClusterRole/gone', toAlice))
  assert.match(
    createBy(access, clusterRoleOf('r', [rule('get', 'pods')])),
    /Verbs:\["get"\]\}; resolution errors: \[clusterrole.rbac.authorization.k8s.io "gone" not found\]$/,
  )
})

test('Rights in a namespace are enough for its Roles only', () => {
  const access = accessOver([
    clusterRoleOf('r', [rule('get', 'pods')]),
    bindingOf('b', 'ClusterRole/r', toAlice, 'ns'),
  ])
  assert.equal(createBy(access, roleOf('ns', 'new', [rule('get', 'pods')])), '')
  assert.match(createBy(access, roleOf('other', 'new', [rule('get', 'pods')])), /not currently held/)
  assert.match(createBy(access, clusterRoleOf('new', [rule('get', 'pods')])), /not currently held/)
})

test('Who may escalate clusterroles may make any role', () => {
  const access = aliceHolding([rule('escalate', 'clusterroles', 'rbac.authorization.k8s.io')])
  assert.equal(createBy(access, clusterRoleOf('r', [rule('*', '*', '*')])), '')
  assert.match(createBy(access, roleOf('ns', 'r', [rule('*', '*', '*')])), /not currently held/)
})

test('system:masters may make any role', () => {
  const object = clusterRoleOf('r', [rule('*', '*', '*')])
  assert.equal(createBy(accessOver([]), object, person('root', 'system:masters')), '')
})

test('Binding to cluster-admin needs its rights, bind, or system:masters', () => {
  const binding = bindingOf('mine', 'ClusterRole/cluster-admin', toAlice)
  const [policy, bind] = [
    bootstrapPolicy(),
    rule('bind', 'clusterroles', 'rbac.authorization.k8s.io', ['cluster-admin']),
  ]
  assert.equal(
    createBy(
      aliceHolding([rule('*', 'clusterrolebindings', 'rbac.authorization.k8s.io')], ...policy),
      binding,
    ),
    `clusterrolebindings.rbac.authorization.k8s.io "mine" is forbidden: ${grants}\n` +
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n' +
      '{NonResourceURLs:["*"], Verbs:["*"]}',
  )
  assert.equal(createBy(aliceHolding([bind], ...policy), binding), '')
  assert.equal(createBy(accessOver(policy), binding, person('root', 'system:masters')), '')
})

test('A right to bind in one namespace does not bind elsewhere', () => {
  const access = accessOver([
    clusterRoleOf('binder', [rule('bind', 'clusterroles', 'rbac.authorization.k8s.io')]),
    bindingOf('b', 'ClusterRole/binder', toAlice, 'ns'),
    clusterRoleOf('target', [rule('get', 'secrets')]),
  ])
  assert.equal(createBy(access, bindingOf('x', 'ClusterRole/target', toAlice, 'ns')), '')
  assert.match(createBy(access, bindingOf('x', 'ClusterRole/target', toAlice, 'other')), /not currently held/)
  assert.match(createBy(access, bindingOf('x', 'ClusterRole/target', toAlice)), /not currently held/)
})

test('Binding to a role that is not there is 404 for who may not bind it', () => {
  const binding = bindingOf('x', 'ClusterRole/gone', toAlice)
  const request = admissionRequest('CREATE', 'clusterrolebindings', { user: alice, object: binding })
  assert.equal(
    refusal(() => accessOver([]).admit(request), 404),
    'clusterroles.rbac.authorization.k8s.io "gone" not found',
  )
})

test('A new subject for a binding needs the rights of its role', () => {
  const oldObject = bindingOf('b', 'ClusterRole/target', [])
  const access = aliceHolding([], clusterRoleOf('target', [rule('get', 'secrets')]), oldObject)
  assert.match(
    update(access, { ...oldObject, subjects: toAlice } as KubeObject, oldObject),
    /not currently held/,
  )
})

const toView = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }

test('A label that adds rules to view does not let one grant what one lacks', () => {
  const policyWriter = [rule('create update patch', 'clusterroles', 'rbac.authorization.k8s.io')]
  const access = aliceHolding(policyWriter, ...bootstrapPolicy())
  assert.match(
    createBy(access, clusterRoleOf('x', [rule('get', 'secrets')], { labels: toView })),
    /not currently held/,
  )
})

test('A label on a role of others that adds its rules to view needs those rules', () => {
  const access = aliceHolding([], ...bootstrapPolicy())
  const admin = bootstrapPolicy().find(object => object.metadata.name === 'cluster-admin')
  assert.ok(admin)
  const labelled = { ...admin, metadata: { ...admin.metadata, labels: toView } }
  assert.match(update(access, labelled, admin), /not currently held/)
})

test('An aggregationRule needs everything, to set it, to keep it and to take it off', () => {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
  const plain = clusterRoleOf('x', [])
  const aggregating = clusterRoleOf('x', [], { aggregationRule })
  const text =
    'clusterroles.rbac.authorization.k8s.io "x" is forbidden: must have cluster-admin privileges to use the aggregationRule'
  const access = aliceHolding([rule('create update patch', 'clusterroles', 'rbac.authorization.k8s.io')])
  assert.equal(createBy(access, aggregating), text)
  assert.equal(update(access, plain, aggregating), text)
  const labelled: ClusterRole = { ...aggregating, metadata: { name: 'x', labels: { c: 'd' } } }
  assert.equal(update(access, labelled, aggregating), text)
  // Every verb includes `escalate`, as in Kubernetes.
  const everything = aliceHolding([rule('*', '*', '*')])
  assert.equal(createBy(everything, aggregating), '')
})

test('The rules that a binding grants are those its role aggregates', () => {
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
  const access = aliceHolding(
    [],
    clusterRoleOf('sum', [], { aggregationRule }),
    clusterRoleOf('part', [rule('get', 'secrets')], { labels: { a: 'b' } }),
  )
  assert.match(createBy(access, bindingOf('x', 'ClusterRole/sum', toAlice)), /Resources:\["secrets"\]/)
})

test('Finalizers and owners of a role may be changed by who lacks its rights', () => {
  const oldObject = clusterRoleOf('x', [rule('*', '*', '*')])
  const access = aliceHolding([], oldObject)
  const metadata = { name: 'x', finalizers: ['example.com/f'], resourceVersion: '7' }
  assert.equal(update(access, { ...oldObject, metadata } as KubeObject, oldObject), '')
  const more = { ...oldObject, metadata, rules: [rule('*', '*', '*'), rule('get', 'pods')] }
  assert.match(update(access, more as KubeObject, oldObject), /not currently held/)
})

test('A role without verbs and a binding without role grant nothing and are left to validation', () => {
  const access = accessOver([])
  assert.equal(
    createBy(access, { ...clusterRoleOf('x', []), rules: [{ resources: ['pods'] }] } as KubeObject),
    '',
  )
  const { roleRef: _, ...binding } = bindingOf('x', 'ClusterRole/r', toAlice)
  assert.equal(createBy(access, binding), '')
})

const some = (...values: string[]) => fc.subarray(values, { minLength: 1, maxLength: 2 })
const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: some('get', 'list', '*'),
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/log', '*/*', '*', 'pods/*'),
    resourceNames: fc.oneof(fc.constant<string[]>([]), some('a', 'b', '')),
  }),
  fc.record({
    verbs: some('get', 'list', '*'),
    nonResourceURLs: some('/a', '/a/*', '/a*', '/*', '*', '/a/b', '/a/**'),
  }),
)
const anyQuestion: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({
    user: fc.constant(alice),
    verb: fc.constantFrom('get', 'list', 'watch'),
    group: fc.constantFrom('', 'apps', 'batch'),
    resource: fc.constantFrom('pods', 'nodes'),
    subresource: fc.constantFrom('', 'log', '*'),
    name: fc.constantFrom('', 'a', 'b'),
  }),
  fc.record({
    user: fc.constant(alice),
    verb: fc.constantFrom('get', 'list'),
    path: fc.constantFrom('/', '/a', '/a/b', '/ab', '/b'),
  }),
)

test('Whatever rules the check lets through allow nothing that was not allowed before', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), anyRule, anyQuestion, (held, wanted, question) => {
      fc.pre(uncovered(held, [wanted]).length === 0)
      const before = held.some(one => ruleAllows(one, question))
      assert.ok(before || !ruleAllows(wanted, question))
    }),
    { numRuns: 2000, maxSkipsPerRun: 1000 },
  )
})

test('Everybody holds what he holds', () => {
  fc.assert(fc.property(fc.array(anyRule), held => assert.deepEqual(uncovered(held, held), [])))
})
