import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { asking, createdAt, withAddresses } from '../../testing/judged-request.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'

const afterWaiting = { now: createdAt + 300_000 }
/** Names of the cluster itself. */
const reserved = [
  'kubernetes',
  'kubernetes.default',
  'KUBERNETES.default.svc',
  'kubernetes.default.svc.cluster.local',
  'dns.kube-system.svc',
  'localhost',
]
const many = Array.from({ length: 101 }, (_, index) => `n${index}.example.net`)

// What a name resolves to is no evidence (whoever runs the zone would decide), so nothing here resolves any.
const cloud = new Inventory('inventory of instances')
cloud.read(
  parseInventory({ 'i.yaml': 'nodes: { worker-1: { names: [worker-1.zone-a.c.project.internal] } }' }),
)
const byCloud = {
  evidence: [cloud],
  policy: { evidence: 'Inventory', allowedRanges: [], inventory: { file: 'i.yaml' } } as const,
}
const cases: Case[] = [
  [
    'E20 a name of the Node and an address that is nowhere',
    asking(['worker-1'], ['9.9.9.9']),
    'Wait',
    'SanUnproven',
  ],
  [
    'E20 the same when waiting is over',
    { ...asking(['worker-1'], ['9.9.9.9']), ...afterWaiting },
    'Deny',
    'SanUnproven',
  ],
  [
    'E21 a name that nothing resolves, and an address, both on the Node',
    asking(['w1.example.net']),
    'Approve',
    'SansProven',
  ],
  [
    'E24 the name of an instance in its zone and project, from an inventory',
    { ...byCloud, ...asking(['worker-1.zone-a.c.project.internal'], []) },
    'Approve',
    'SansProven',
  ],
  ...[
    'worker-1.zone-b.c.project.internal',
    'worker-1.zone-a.c.other.internal',
    'i1.zone-a.c.project.internal',
  ].map(
    (name): Case => [
      `E24 of another zone, project or instance: ${name}`,
      { ...byCloud, ...asking([name], []) },
      'Wait',
      'SanUnproven',
    ],
  ),
  ['E1 the host name only', asking(['worker-1'], []), 'Approve', 'SansProven'],
  [
    'E2 internal and external names',
    asking(['worker-1.cluster.internal', 'w1.example.net'], []),
    'Approve',
    'SansProven',
  ],
  ['E3 addresses only', asking([], ['10.0.0.11']), 'Approve', 'SansProven'],
  ['E7 a name no address proves', asking(['node1']), 'Wait', 'SanUnproven'],
  ['E7 a name no address proves in time', { ...asking(['node1']), ...afterWaiting }, 'Deny', 'SanUnproven'],
  [
    'E8 the address has a trailing dot, the SAN has none',
    { ...withAddresses({ 'node1.local.': 'InternalDNS' }), ...asking(['node1.local']) },
    'Approve',
    'SansProven',
  ],
  ['E9 upper case and a trailing dot', asking(['WORKER-1.cluster.internal.']), 'Approve', 'SansProven'],
  ['E10 a wildcard', asking(['*.cluster.internal']), 'Deny', 'ReservedName'],
  [
    'E10 a wildcard that the Node lists',
    { ...withAddresses({ '*.x': 'InternalDNS' }), ...asking(['*.x']) },
    'Deny',
    'ReservedName',
  ],
  ['E13 the name of worker-2', asking(['worker-1', 'worker-2']), 'Deny', 'OwnedByOtherNode'],
  ['E14 an empty name', asking(['']), 'Deny', 'InvalidSan'],
  ['E16 a homograph in Punycode', asking(['xn--wrker-1-jjg']), 'Wait', 'SanUnproven'],
  ['E16 a homograph in Unicode', asking(['wоrker-1']), 'Deny', 'InvalidSan'],
  ['E17 the same name twice', asking(['worker-1', 'worker-1'], []), 'Approve', 'SansProven'],
  ['E18 101 names', { ...asking(many), ...afterWaiting }, 'Deny', 'SanUnproven'],
  ['E19 a name that resolves to nothing', asking(['w1.gone.example']), 'Wait', 'SanUnproven'],
  ['an IP address as a DNS name', asking(['10.0.0.11']), 'Deny', 'InvalidSan'],
  ['a space in a name', asking(['worker 1']), 'Deny', 'InvalidSan'],
  ['NUL in a name', asking(['worker-1\0.evil']), 'Deny', 'InvalidSan'],
  ['a name under the own one', asking(['worker-1.evil.example.com']), 'Wait', 'SanUnproven'],
  ...reserved.map((name): Case => [`E13 the name ${name}`, asking([name]), 'Deny', 'ReservedName']),
]
for (const [title, run] of servingCases(cases)) test(title, run)
