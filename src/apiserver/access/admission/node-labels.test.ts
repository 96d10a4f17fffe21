import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbiddenLabelChanges } from './node-labels.ts'

const free = [
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'node.kubernetes.io/anything',
  'kubelet.kubernetes.io/x',
  'own.kubelet.kubernetes.io/x',
  'example.com/x',
  'x',
  'kubernetes.io',
  'notkubernetes.io/x',
]
for (const label of free) {
  test(`A-53: a node may set ${label}`, () => {
    assert.deepEqual(forbiddenLabelChanges({ [label]: 'v' }), [])
  })
}

const guarded = [
  'node-restriction.kubernetes.io/x',
  'own.node-restriction.kubernetes.io/x',
  'node-role.kubernetes.io/control-plane',
  'kubernetes.io/other',
  'topology.kubernetes.io/other',
  'other.kubernetes.io/x',
  'k8s.io/x',
  'other.k8s.io/x',
  'Kubernetes.kubernetes.io/x',
]
for (const label of guarded) {
  test(`A-53: a node may neither set, change nor remove ${label}, but keep it`, () => {
    assert.deepEqual(forbiddenLabelChanges({ [label]: 'v' }), [label])
    assert.deepEqual(forbiddenLabelChanges({ [label]: 'v' }, { [label]: 'w' }), [label])
    assert.deepEqual(forbiddenLabelChanges({}, { [label]: 'w' }), [label])
    assert.deepEqual(forbiddenLabelChanges({ [label]: 'v' }, { [label]: 'v' }), [])
  })
}
