import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inForce } from './in-force.ts'
import { nodeAddressProtection as shipped } from './shipped.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from './validating-policy.ts'

const stamped = { creationTimestamp: '2026-03-01T12:00:00Z', generation: 1, uid: 'u' }
type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>
type BindingSpec = NonNullable<ValidatingAdmissionPolicyBinding['spec']>

const policy = (spec: Partial<PolicySpec> = {}, metadata = {}): ValidatingAdmissionPolicy => ({
  ...shipped.policy,
  metadata: { ...shipped.policy.metadata, ...stamped, ...metadata },
  spec: { ...shipped.policy.spec, ...spec },
})
const binding = (spec: Partial<BindingSpec> = {}): ValidatingAdmissionPolicyBinding => ({
  ...shipped.binding,
  metadata: { ...shipped.binding.metadata, ...stamped, creationTimestamp: '2026-03-01T13:00:00Z' },
  spec: { ...shipped.binding.spec, ...spec },
})

test('as shipped, and as an API server fills it in, it is in force since the younger of the two', () => {
  const since = Date.parse('2026-03-01T13:00:00Z')
  assert.deepEqual(inForce(shipped, [policy()], [binding()]), { inForce: true, since })
  const [rule] = shipped.policy.spec?.matchConstraints?.resourceRules ?? []
  const filled = policy({
    failurePolicy: 'Fail',
    matchConstraints: {
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      resourceRules: [{ ...rule, scope: '*' }],
    },
    validations: (shipped.policy.spec?.validations ?? []).map(one => ({ ...one, message: 'in other words' })),
    auditAnnotations: [{ key: 'a', valueExpression: "'b'" }],
  })
  const matchResources = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} }
  const bound = binding({ matchResources, validationActions: ['Audit', 'Deny'] })
  assert.equal(inForce(shipped, [filled], [binding({ paramRef: {} }), bound]).inForce, true)
})

test('what was changed since its creation is in force, but since when is not known', () => {
  assert.deepEqual(inForce(shipped, [policy({}, { generation: 2 })], [binding()]), {
    inForce: true,
    since: undefined,
  })
})

const rules = shipped.policy.spec?.matchConstraints?.resourceRules ?? []
const weaker: [
  what: string,
  policies: ValidatingAdmissionPolicy[],
  bindings: ValidatingAdmissionPolicyBinding[],
  why: RegExp,
][] = [
  ['no policy', [], [binding()], /does not exist/],
  ['no binding', [policy()], [], /no binding/],
  ['a binding of another policy', [policy()], [binding({ policyName: 'other' })], /no binding/],
  ['failures ignored', [policy({ failurePolicy: 'Ignore' })], [binding()], /failurePolicy/],
  ['another expression', [policy({ validations: [{ expression: 'true' }] })], [binding()], /validations/],
  ['no validation', [policy({ validations: [] })], [binding()], /validations/],
  [
    'another variable',
    [policy({ variables: [{ name: 'trusted', expression: 'true' }] })],
    [binding()],
    /variables/,
  ],
  [
    'a condition',
    [policy({ matchConditions: [{ name: 'a', expression: 'false' }] })],
    [binding()],
    /matchConditions/,
  ],
  ['a parameter', [policy({ paramKind: { kind: 'ConfigMap' } })], [binding()], /paramKind/],
  [
    'fewer operations',
    [
      policy({
        matchConstraints: { resourceRules: rules.map(rule => ({ ...rule, operations: ['CREATE'] })) },
      }),
    ],
    [binding()],
    /matchConstraints/,
  ],
  [
    'an exception',
    [policy({ matchConstraints: { resourceRules: rules, excludeResourceRules: rules } })],
    [binding()],
    /matchConstraints/,
  ],
  [
    'some nodes only',
    [policy({ matchConstraints: { resourceRules: rules, objectSelector: { matchLabels: { a: 'b' } } } })],
    [binding()],
    /matchConstraints/,
  ],
  [
    'a warning instead of a denial',
    [policy()],
    [binding({ validationActions: ['Warn', 'Audit'] })],
    /lacks Deny/,
  ],
  ['a parameter of the binding', [policy()], [binding({ paramRef: { name: 'a' } })], /paramRef/],
  [
    'a binding for some objects',
    [policy()],
    [binding({ matchResources: { objectSelector: { matchLabels: { a: 'b' } } } })],
    /matchResources/,
  ],
  [
    'a policy that is being deleted',
    [policy({}, { deletionTimestamp: '2026-03-01T14:00:00Z' })],
    [binding()],
    /being deleted/,
  ],
]
for (const [what, policies, bindings, why] of weaker) {
  test(`not in force: ${what}`, () => {
    const found = inForce(shipped, policies, bindings)
    assert.match(found.inForce ? '' : found.why, why)
  })
}
