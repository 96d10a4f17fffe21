import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bothGroups } from '../testing/judged-cases.ts'
import {
  createdAt,
  createdNode,
  nodeNamed,
  sans,
  servingFacts,
  withSubject,
} from '../testing/judged-request.ts'
import { Inventory } from './inventory/inventory.ts'
import { parseInventory } from './inventory/parse-inventory.ts'
import { judge } from './judge.ts'
import type { ApprovalPolicy } from './policy.ts'

// Who holds a bootstrap token chooses the name of a Node, and a Node may list its own name as Hostname: named like the
// address of a victim it would have "its own name" as an IP SAN (K-73).

const address = '10.0.0.12'
const victim = createdNode(nodeNamed('worker-2', { [address]: 'InternalIP' }), createdAt - 3_600_000)
const thief = createdNode(nodeNamed(address, { [address]: 'Hostname' }), createdAt - 600_000)
const inventory = new Inventory('inventory')
inventory.read(parseInventory({ 'i.yaml': `nodes: { worker-2: { addresses: [${address}] } }` }))

function asks(
  node: string,
  policy: Partial<ApprovalPolicy> = {},
  nodes = [victim, thief],
  evidence = [inventory],
): string {
  const { outcome, reasons } = judge(
    servingFacts({
      spec: { username: `system:node:${node}`, groups: bothGroups },
      asked: { ...withSubject(`system:node:${node}`).asked, subjectAltName: sans([], [address]) },
      nodes,
      evidence,
      protection: { inForce: true, since: createdAt - 7_200_000 },
      policy: { evidence: 'NodeStatus', allowedRanges: [], ...policy },
    }),
  )
  return `${outcome} ${reasons[0]?.code}`
}

test('a Node named like an address of another node takes it from nobody', () => {
  assert.equal(asks(address), 'Deny OwnedByOtherNode')
  assert.equal(asks('worker-2'), 'Approve SansProven')
  assert.equal(asks('worker-2', { evidence: 'Inventory' }), 'Approve SansProven')
})

test('under the protection a name that a node gave itself proves no address', () => {
  const strict: Partial<ApprovalPolicy> = { evidence: 'ProtectedNodeStatus' }
  assert.equal(asks(address, strict, [thief], []), 'Wait SanUnproven')
  const assigned = createdNode(nodeNamed(address, { [address]: 'InternalIP' }), createdAt)
  assert.equal(asks(address, strict, [assigned], []), 'Approve SansProven', 'an operator wrote it')
  assert.equal(asks('worker-2', strict), 'Approve SansProven')
})

test('where nodes are named by their addresses they get them, as any claim', () => {
  const own = createdNode(nodeNamed('10.0.0.77', { '10.0.0.77': 'Hostname' }), createdAt)
  const { outcome } = judge(
    servingFacts({
      spec: { username: 'system:node:10.0.0.77', groups: bothGroups },
      asked: { ...withSubject('system:node:10.0.0.77').asked, subjectAltName: sans([], ['10.0.0.77']) },
      nodes: [own],
    }),
  )
  assert.equal(outcome, 'Approve')
})
