import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import {
  asking,
  createdAt,
  nodeNamed,
  servingFacts,
  withAddresses,
  worker1,
  worker2,
} from '../../testing/judged-request.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'
import { judge } from '../judge.ts'
import type { ApprovalPolicy } from '../policy.ts'

const text = `
nodes:
  worker-1:
    names: [worker-1.cluster.internal., W1.example.net]
    addresses: [10.0.0.11/24, "fd00:0:0::11", 203.0.113.11]
    attributes: { rack: a }
  worker-2: { addresses: [10.0.0.12] }
`
const inventoryOf = (...texts: string[]) => {
  const inventory = new Inventory('inventory file')
  inventory.read(parseInventory(Object.fromEntries(texts.map((text, index) => [`${index}.yaml`, text]))))
  return inventory
}
const evidence = [inventoryOf(text)]
const inventory = { file: '/i.yaml' }
const policy: ApprovalPolicy = { evidence: 'Inventory', allowedRanges: [], inventory }
const lax: ApprovalPolicy = { ...policy, evidence: 'NodeStatus' }
const metal = 'node-restriction.kubernetes.io/pool'
const pools: ApprovalPolicy = {
  ...lax,
  pools: [
    { name: 'racked', evidence: 'NodeStatus', inventoryAttributes: { rack: 'a' } },
    { name: 'metal', evidence: 'Inventory', nodeLabels: { [metal]: 'metal' } },
  ],
}
const labelled = (pool: string) => ({
  nodes: [{ ...worker1, metadata: { name: 'worker-1', labels: { [metal]: pool } } }, worker2],
})
const selfReported = { ...withAddresses({ '10.0.0.77': 'InternalIP' }), ...asking([], ['10.0.0.77']) }
const machineNode = (providerID: string) => ({ ...worker1, spec: { providerID } })
const late = { now: createdAt + 300_000 }
const failing = [new Inventory('inventory file')]

const cases: Case[] = [
  ['I1 all names and addresses are in the inventory', { policy, evidence }, 'Approve', 'SansProven'],
  [
    'F19 an address with its mask',
    { policy, evidence, ...asking([], ['10.0.0.11']) },
    'Approve',
    'SansProven',
  ],
  [
    'I2 two entries for the node',
    { policy, evidence: [inventoryOf(text, 'nodes: { worker-1: { addresses: [10.0.0.99] } }')] },
    'Deny',
    'InventoryAmbiguous',
  ],
  ['I3 no entry for the node', { policy, evidence: [inventoryOf('nodes: {}')] }, 'Wait', 'SanUnproven'],
  ['I3 no entry in time', { policy, evidence: [inventoryOf('nodes: {}')], ...late }, 'Deny', 'SanUnproven'],
  ['I5 an address that only the Node lists', { policy, evidence, ...selfReported }, 'Wait', 'SanUnproven'],
  [
    'I5 an address that only the Node lists, in time',
    { policy, evidence, ...selfReported, ...late },
    'Deny',
    'SanUnproven',
  ],
  [
    'I8 a name outside the inventory',
    { policy, evidence, ...asking(['w9.example.net']), ...late },
    'Deny',
    'SanUnproven',
  ],
  [
    'I8 the same, where the Node’s word is enough',
    { policy: lax, evidence, ...selfReported },
    'Approve',
    'SansProven',
  ],
  ['an inventory that cannot be read', { policy, evidence: failing }, 'Retry', 'EvidenceUnavailable'],
  [
    'an inventory that cannot be read, late',
    { policy, evidence: failing, ...late },
    'Retry',
    'EvidenceUnavailable',
  ],
  [
    'an inventory that cannot be read, though not needed',
    { policy: lax, evidence: failing },
    'Retry',
    'EvidenceUnavailable',
  ],
  ...['Pending', 'Deleting'].map(
    (state): Case => [
      `I4 a machine that is ${state}`,
      {
        policy,
        evidence: [inventoryOf(text.replace('attributes:', `machine: { state: ${state} }\n    attributes:`))],
      },
      'Wait',
      'MachineNotReady',
    ],
  ),
  [
    'I4 a machine that is not ready in time',
    {
      policy: lax,
      evidence: [inventoryOf(text.replace('attributes:', 'machine: { state: Pending }\n    attributes:'))],
      ...late,
    },
    'Deny',
    'MachineNotReady',
  ],
  [
    'I11 a host name that never changes, whatever the provider calls the machine',
    { policy, evidence, nodes: [machineNode('metal://rack-a/17'), worker2] },
    'Approve',
    'SansProven',
  ],
  [
    'I11 the providerID of another machine, which the node wrote itself, proves nothing of that machine',
    {
      policy,
      evidence: [inventoryOf('nodes: { i-0abc: { addresses: [10.0.0.11] } }')],
      nodes: [machineNode('aws:///eu-1/i-0abc'), worker2],
    },
    'Deny',
    'OwnedByOtherNode',
  ],
  ['no inventory at all', { policy, ...late }, 'Deny', 'SanUnproven'],
  [
    'F16 the inventory gives the address to a node that is not there yet',
    {
      policy: lax,
      evidence,
      nodes: [nodeNamed('worker-1', { '10.0.0.12': 'InternalIP' })],
      ...asking([], ['10.0.0.12']),
    },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'F16 the inventory gives the node what another Node claims',
    {
      policy: lax,
      evidence,
      nodes: [worker1, nodeNamed('worker-2', { '10.0.0.11': 'InternalIP' })],
      ...asking([], ['10.0.0.11']),
    },
    'Approve',
    'SansProven',
  ],
  [
    'a pool by inventory attribute asks for less',
    { policy: pools, evidence, ...selfReported },
    'Approve',
    'SansProven',
  ],
  [
    'of two pools the strictest counts',
    { policy: pools, evidence, ...labelled('metal'), ...asking(['worker-1', 'w9.example.net']) },
    'Wait',
    'SanUnproven',
  ],
  ['another value of the label', { policy: pools, evidence, ...labelled('cloud') }, 'Approve', 'SansProven'],
]
for (const [title, run] of servingCases(cases)) test(title, run)

test('the verdict names the inventory, and the pool that asks for it', () => {
  const { reasons } = judge(
    servingFacts({
      policy: pools,
      evidence,
      ...labelled('metal'),
      ...asking(['worker-1', 'w9.example.net']),
    }),
  )
  assert.equal(
    reasons[0]?.message,
    'SAN DNS "w9.example.net" not in inventory file (evidence Inventory, pool racked, metal); proven: ' +
      'DNS "worker-1" (inventory file), IP 10.0.0.11 (inventory file)',
  )
})

for (const [what, content] of Object.entries({
  'no YAML': 'nodes: [',
  'a list': '- a',
  'an unknown field': 'node: {}',
  'names that are no list': 'nodes: { a: { names: x } }',
  'an address that is none': 'nodes: { a: { addresses: [10.0.0] } }',
  'a field of an entry that is unknown': 'nodes: { a: { ips: [10.0.0.1] } }',
  'a number as attribute': 'nodes: { a: { attributes: { rack: 1 } } }',
  'a name that no Node can have': 'nodes: { A: {} }',
  'a floating range that is none': 'nodes: { a: { floating: [10.0.0.0/33] } }',
  'a state of a machine that there is not': 'nodes: { a: { machine: { state: Gone } } }',
  'a time that is none': 'nodes: { a: { machine: { created: yesterday } } }',
  'the same node twice in one text': 'nodes: { a: {}, a: {} }',
}))
  test(`I9: ${what} is refused, with the place`, () =>
    assert.throws(
      () => parseInventory({ 'x.yaml': content }),
      error => hasCode(error, 'INVENTORY_INVALID') && error.message.startsWith('x.yaml'),
    ))
