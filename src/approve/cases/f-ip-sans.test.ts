import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import {
  asking,
  createdAt,
  type FactChanges,
  ip,
  nodeNamed,
  sans,
  withAddresses,
} from '../../testing/judged-request.ts'
import { CertifiedIndex } from '../certified-addresses.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'

const inventory = new Inventory('inventory')
inventory.read(
  parseInventory({
    'i.yaml':
      'nodes: { worker-1: { addresses: [10.0.0.11], floating: [10.9.0.0/24, 10.8.0.5] }, worker-2: { floating: [10.9.0.0/24] } }',
  }),
)
const policy = { evidence: 'Inventory', allowedRanges: [], inventory: { file: 'i.yaml' } } as const
/** The Node lists the address that floats, and asks for it. */
const carrying = (address: string, more: FactChanges = {}) => ({
  evidence: [inventory],
  policy,
  ...withAddresses({ [address]: 'InternalIP' }),
  ...asking([], ['10.0.0.11', address]),
  ...more,
})
const carried = new CertifiedIndex()
carried.add('worker-2', ['10.9.0.7'], Number.POSITIVE_INFINITY)

const reserved = [
  '0.0.0.0',
  '::',
  '127.0.0.1',
  '::1',
  '169.254.169.254',
  'fe80::1',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
]

// F12 differs in bytes: c-encoding.test.ts. F16 is a matter of who holds the address: contested.test.ts.
const cases: Case[] = [
  ['F1 the InternalIP', asking([], ['10.0.0.11']), 'Approve', 'SansProven'],
  ['F3 the IPv6 InternalIP', asking([], ['fd00::11']), 'Approve', 'SansProven'],
  [
    'F4 an IPv6 address that the Node writes in full',
    {
      ...withAddresses({ '2080:1000:1000:8ff0:0:0:0:0': 'InternalIP' }),
      ...asking([], ['2080:1000:1000:8ff0::']),
    },
    'Approve',
    'SansProven',
  ],
  [
    'F9 the address is in an annotation only',
    {
      nodes: [
        {
          ...nodeNamed('worker-1', {}),
          metadata: { name: 'worker-1', annotations: { 'alpha.kubernetes.io/provided-node-ip': '1.2.3.4' } },
        },
      ],
      ...asking([], ['1.2.3.4']),
    },
    'Wait',
    'SanUnproven',
  ],
  [
    'F11 an IPv4-mapped address in 16 bytes',
    { asked: { subjectAltName: sans([], [], { ipAddresses: [ip('::ffff:10.0.0.11')] }) } },
    'Approve',
    'SansProven',
  ],
  ...reserved.map(
    (address): Case => [
      `F14 ${address}, though the Node lists it`,
      { ...withAddresses({ [address]: 'InternalIP' }), ...asking([], [address]) },
      'Deny',
      'ReservedName',
    ],
  ),
  ['F14 an IPv4-mapped loopback address', asking([], ['::ffff:127.0.0.1']), 'Deny', 'ReservedName'],
  ['F15 a service address', asking([], ['10.96.0.1']), 'Deny', 'ReservedName'],
  ['F15 the address of worker-2', asking([], ['10.0.0.12']), 'Deny', 'OwnedByOtherNode'],
  [
    'F17 a Node address with a zone, the rest proven',
    { ...withAddresses({ 'fe80::1%eth0': 'InternalIP' }), ...asking([]) },
    'Approve',
    'SansProven',
  ],
  [
    'F20 an address that left the Node after the request was made',
    { ...asking([], ['10.0.0.11', '10.0.0.77']), now: createdAt + 300_000 },
    'Deny',
    'SanUnproven',
  ],
  ['F21 an egress address that the inventory lists', carrying('10.8.0.5'), 'Approve', 'SansProven'],
  ['F21 an egress address in a range of the inventory', carrying('10.9.0.7'), 'Approve', 'SansProven'],
  ['F21 an egress address in none', carrying('10.7.0.1'), 'Wait', 'SanUnproven'],
  [
    'F21 in no range when waiting is over',
    carrying('10.7.0.1', { now: createdAt + 300_000 }),
    'Deny',
    'SanUnproven',
  ],
  [
    'F21 in a range, but the Node does not carry it (any more)',
    { evidence: [inventory], policy, ...asking([], ['10.0.0.11', '10.9.0.7']) },
    'Wait',
    'SanUnproven',
  ],
  [
    'F21 it has moved here, and the node that had it is certified for it still',
    carrying('10.9.0.7', { certified: carried }),
    'Wait',
    'OwnedByOtherNode',
  ],
  [
    'F21 the node that has it carries it still: who also lists it takes it from nobody',
    carrying('10.9.0.7', {
      certified: carried,
      nodes: [
        nodeNamed('worker-1', { '10.0.0.11': 'InternalIP', '10.9.0.7': 'InternalIP' }),
        nodeNamed('worker-2', { '10.9.0.7': 'InternalIP' }),
      ],
    }),
    'Deny',
    'OwnedByOtherNode',
  ],
  ['F22 no address is asked for, and the name is proven', asking(['worker-1'], []), 'Approve', 'SansProven'],
  ['F22 no address at all', { nodes: [nodeNamed('worker-1', {})], ...asking([]) }, 'Wait', 'SanUnproven'],
  [
    'an address that the Node lists as a host name proves an IP SAN',
    { ...withAddresses({ '10.0.0.99': 'Hostname' }), ...asking([], ['10.0.0.99']) },
    'Approve',
    'SansProven',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
