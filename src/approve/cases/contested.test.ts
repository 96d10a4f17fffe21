import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeNode } from '../../kube/types.ts'
import { bothGroups, type Case, expectVerdict, servingCases } from '../../testing/judged-cases.ts'
import {
  asking,
  createdAt,
  createdNode,
  type FactChanges,
  nodeNamed,
  sans,
  servingFacts,
  withSubject,
} from '../../testing/judged-request.ts'
import { AddressIndex } from '../address-index.ts'
import { CertifiedIndex } from '../certified-addresses.ts'
import { judge } from '../judge.ts'

const hour = 3_600_000
const contested = '10.0.0.12'
const thief = nodeNamed('worker-1', { '10.0.0.11': 'InternalIP', [contested]: 'InternalIP' })
const victim = nodeNamed('worker-2', { [contested]: 'InternalIP' })
const old = (node: KubeNode) => createdNode(node, createdAt - 2 * hour)
const young = (node: KubeNode) => createdNode(node, createdAt - hour)

const certifiedFor = (nodeName: string) => {
  const index = new CertifiedIndex()
  index.reserve('earlier', nodeName, [contested])
  return index
}

/** Claims in the order in which they were seen. */
const claimed = (...nodes: KubeNode[]) => {
  const claims = new AddressIndex()
  nodes.forEach((node, index) => void claims.set(node, index + 1))
  return claims
}

const byThief = asking([], [contested])
const byVictim: FactChanges = {
  spec: { username: 'system:node:worker-2', groups: bothGroups },
  asked: { ...withSubject('system:node:worker-2').asked, subjectAltName: sans([], [contested]) },
}

const cases: Case[] = [
  ['F16 nothing tells who was first', { nodes: [thief, victim], ...byThief }, 'Deny', 'OwnedByOtherNode'],
  [
    'F16 the victim is the older Node',
    { nodes: [young(thief), old(victim)], ...byThief },
    'Deny',
    'OwnedByOtherNode',
  ],
  ['F16 the older victim asks', { nodes: [young(thief), old(victim)], ...byVictim }, 'Approve', 'SansProven'],
  [
    'F16 the thief is the older Node, the victim is certified',
    { nodes: [old(thief), young(victim)], certified: certifiedFor('worker-2'), ...byThief },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'F16 the certified victim asks again',
    { nodes: [old(thief), young(victim)], certified: certifiedFor('worker-2'), ...byVictim },
    'Approve',
    'SansProven',
  ],
  [
    'F16 the thief is the older Node, the victim claimed first',
    { nodes: [old(thief), young(victim)], claims: claimed(young(victim), old(thief)), ...byThief },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'F16 the victim that claimed first asks',
    { nodes: [old(thief), young(victim)], claims: claimed(young(victim), old(thief)), ...byVictim },
    'Approve',
    'SansProven',
  ],
  [
    'the name of another Node, which it claims',
    {
      nodes: [nodeNamed('worker-1', { 'worker-2': 'Hostname' }), victim],
      ...asking(['worker-2'], []),
    },
    'Deny',
    'OwnedByOtherNode',
  ],
  ...[
    '64:ff9b::10.0.0.12',
    '64:ff9b:1:a00:0:c00::',
    '2002:a00:c::1',
    '::10.0.0.12',
    'fd00::5efe:10.0.0.12',
  ].map(
    (address): Case => [
      `the address of worker-2 as ${address}`,
      { nodes: [nodeNamed('worker-1', { [address]: 'InternalIP' }), victim], ...asking([], [address]) },
      'Deny',
      'OwnedByOtherNode',
    ],
  ),
  [
    'its own address as 6to4, which another Node claims later',
    {
      nodes: [
        old(nodeNamed('worker-1', { '10.0.0.11': 'InternalIP', '2002:a00:b::1': 'InternalIP' })),
        young(nodeNamed('worker-2', { '10.0.0.11': 'InternalIP' })),
      ],
      ...asking([], ['2002:a00:b::1']),
    },
    'Approve',
    'SansProven',
  ],
  [
    'F15 an address in the pod range of another Node',
    {
      nodes: [
        young(nodeNamed('worker-1', { '10.244.2.9': 'InternalIP' })),
        old({ ...victim, spec: { podCIDRs: ['10.244.2.0/24', 'fd00:2::/64'] } }),
      ],
      ...asking([], ['10.244.2.9']),
    },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'a younger Node says that its pod range holds everybody',
    {
      nodes: [
        old(nodeNamed('worker-1', { '10.0.0.11': 'InternalIP' })),
        young({ ...victim, spec: { podCIDR: '0.0.0.0/0' } }),
      ],
      ...asking([], ['10.0.0.11']),
    },
    'Approve',
    'SansProven',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)

test('an address that a living node gave up is its own while its certificate lives, unless the policy says otherwise', () => {
  const other = nodeNamed('worker-2', { 'worker-2': 'Hostname' })
  const facts = { nodes: [old(thief), old(other)], certified: certifiedFor('worker-2'), ...byThief }
  expectVerdict(servingFacts(facts), 'Wait', 'OwnedByOtherNode')
  expectVerdict(servingFacts({ ...facts, now: createdAt + 300_000 }), 'Deny', 'OwnedByOtherNode')
  const policy = { evidence: 'NodeStatus', allowedRanges: [], releasedAddresses: 'free' } as const
  const { outcome, reasons } = judge(servingFacts({ ...facts, policy }))
  assert.deepEqual(
    [outcome, ...reasons.map(({ code }) => code)],
    ['Approve', 'SansProven', 'SanIncomplete', 'HeldElsewhere'],
  )
})

test('the certificate of a Node that is gone keeps no address', () => {
  const facts = { nodes: [old(thief)], certified: certifiedFor('worker-2'), ...byThief }
  expectVerdict(servingFacts(facts), 'Approve', 'SansProven')
})

test('who keeps an address is told who else claims it', () => {
  const { reasons } = judge(servingFacts({ nodes: [young(thief), old(victim)], ...byVictim }))
  assert.deepEqual(reasons.at(-1), {
    code: 'SanContested',
    message:
      'SAN IP 10.0.0.12 is also claimed by node "worker-1" (status.addresses); this node keeps it: it had it first',
  })
})
