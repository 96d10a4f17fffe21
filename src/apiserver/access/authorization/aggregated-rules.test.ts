import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterRole, PolicyRule } from '../../../kube/types.ts'
import { clusterRoleOf } from '../testing/rbac-objects.ts'
import { effectiveRules } from './aggregated-rules.ts'

const rule: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }

interface Expression {
  key: string
  operator: string
  values?: string[]
}

/** Whether a role with this selector takes in a role with these labels. */
function takesIn(labels: Record<string, string>, ...matchExpressions: Expression[]): boolean {
  const selector: { matchLabels?: Record<string, string>; matchExpressions: Expression[] } = {
    matchExpressions,
  }
  const sum = clusterRoleOf('sum', [], { aggregationRule: { clusterRoleSelectors: [selector] } })
  return effectiveRules(sum, [sum, clusterRoleOf('part', [rule], { labels })]).length > 0
}

const cases: [expression: Expression, labels: Record<string, string>, taken: boolean][] = [
  [{ key: 'a', operator: 'In', values: ['x', 'y'] }, { a: 'y' }, true],
  [{ key: 'a', operator: 'In', values: ['x'] }, { a: 'y' }, false],
  [{ key: 'a', operator: 'In', values: ['x'] }, {}, false],
  [{ key: 'a', operator: 'NotIn', values: ['x'] }, { a: 'y' }, true],
  [{ key: 'a', operator: 'NotIn', values: ['x'] }, { a: 'x' }, false],
  [{ key: 'a', operator: 'NotIn', values: ['x'] }, {}, true],
  [{ key: 'a', operator: 'Exists' }, { a: '' }, true],
  [{ key: 'a', operator: 'Exists' }, {}, false],
  [{ key: 'constructor', operator: 'Exists' }, {}, false],
  [{ key: 'a', operator: 'DoesNotExist' }, {}, true],
  [{ key: 'a', operator: 'DoesNotExist' }, { a: '' }, false],
  [{ key: 'a', operator: 'Anything', values: [] }, { a: '' }, false],
  [{ key: 'a', operator: 'Anything', values: [] }, {}, false],
]
for (const [expression, labels, taken] of cases) {
  test(`${JSON.stringify(expression)} ${taken ? 'selects' : 'does not select'} ${JSON.stringify(labels)}`, () => {
    assert.equal(takesIn(labels, expression), taken)
  })
}

test('All parts of a selector must hold, and an empty one selects everything', () => {
  const isSet = { key: 'a', operator: 'Exists' }
  assert.equal(takesIn({ a: '', b: '' }, isSet, { key: 'b', operator: 'Exists' }), true)
  assert.equal(takesIn({ a: '' }, isSet, { key: 'b', operator: 'Exists' }), false)
  assert.equal(takesIn({}), true)
})

test('No selector selects nothing', () => {
  const sum = clusterRoleOf('sum', [rule], { aggregationRule: {} })
  assert.deepEqual(effectiveRules(sum, [sum, clusterRoleOf('part', [rule])]), [])
})

test('The same rule of several roles counts once, in the order of their names', () => {
  const other: PolicyRule = { ...rule, verbs: ['list'] }
  const sum = clusterRoleOf('sum', [], { aggregationRule: { clusterRoleSelectors: [{}] } })
  const parts: ClusterRole[] = [
    clusterRoleOf('b', [rule]),
    clusterRoleOf('c', [rule]),
    clusterRoleOf('a', [other]),
  ]
  assert.deepEqual(effectiveRules(sum, [sum, ...parts]), [other, rule])
})
