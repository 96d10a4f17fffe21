import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { parsePolicyFile } from './policy-file.ts'

test('a policy file is read as it is written', () => {
  const text = 'evidence: NodeStatus\nserviceRanges: [10.96.0.0/12]\nwaitSeconds: 60\n'
  assert.deepEqual(parsePolicyFile(text, 'p.yaml'), {
    evidence: 'NodeStatus',
    allowedRanges: [],
    serviceRanges: ['10.96.0.0/12'],
    waitSeconds: 60,
  })
})

test('pools and the inventory are read', () => {
  const text = `
evidence: NodeStatus
inventory: { configMap: kube-system/inventory }
pools:
  - name: metal
    evidence: Inventory
    nodeLabels: { node-restriction.kubernetes.io/pool: metal }
`
  assert.deepEqual(parsePolicyFile(text, 'p.yaml'), {
    evidence: 'NodeStatus',
    allowedRanges: [],
    inventory: { configMap: 'kube-system/inventory' },
    pools: [
      {
        name: 'metal',
        evidence: 'Inventory',
        nodeLabels: { 'node-restriction.kubernetes.io/pool': 'metal' },
      },
    ],
  })
})

test('a policy that says something else than it seems is refused, and the field is named', () => {
  const bad = {
    '': 'evidence',
    'evidence: DNS': 'evidence',
    'evidence: NodeStatus\nallowedRange: [10.0.0.0/8]': 'allowedRange',
    'evidence: NodeStatus\nallowedRanges: 10.0.0.0/8': 'allowedRanges',
    'evidence: NodeStatus\nserviceRanges: [10.96.0.0]': '10.96.0.0',
    'evidence: NodeStatus\nwaitSeconds: soon': 'waitSeconds',
    'evidence: [': 'YAML',
    'evidence: Inventory': 'inventory',
    'evidence: NodeStatus\nreleasedAddresses: lost': 'releasedAddresses must be held or free',
    'evidence: NodeStatus\ninventory: {configMap: a/b, file: /c}': 'exactly one',
    'evidence: NodeStatus\ninventory: {configMap: 7}': 'inventory.configMap must be a string',
    'evidence: NodeStatus\npools: [{name: a}]': 'pools[0].evidence is missing',
    'evidence: NodeStatus\npools: [{name: a, evidence: NodeStatus, labels: {}}]':
      'pools[0] has the unknown field "labels"',
    'evidence: NodeStatus\npools: [{name: a, evidence: NodeStatus}]': 'selects by nothing',
    'evidence: NodeStatus\npools: [{name: a, evidence: NodeStatus, nodeLabels: {zone: b}}]':
      'a node can change',
  }
  for (const [text, named] of Object.entries(bad)) {
    assert.throws(
      () => parsePolicyFile(text, 'p.yaml'),
      error => hasCode(error, 'POLICY_INVALID') && error.message.includes(named),
    )
  }
})
