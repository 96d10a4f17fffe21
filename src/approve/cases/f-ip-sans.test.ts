import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { asking, createdAt, ip, nodeNamed, sans, withAddresses } from '../../testing/judged-request.ts'

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
  ['F22 no address at all', { nodes: [nodeNamed('worker-1', {})], ...asking([]) }, 'Wait', 'SanUnproven'],
  [
    'an address that the Node lists as a host name proves an IP SAN',
    { ...withAddresses({ '10.0.0.99': 'Hostname' }), ...asking([], ['10.0.0.99']) },
    'Approve',
    'SansProven',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
