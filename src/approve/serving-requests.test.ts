import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asking,
  createdAt,
  extension,
  type FactChanges,
  ip,
  nodeNamed,
  sans,
  servingFacts,
  withAddresses,
  withSubject,
  worker2,
} from '../testing/judged-request.ts'
import { judge } from './judge.ts'
import type { Outcome, ReasonCode } from './verdict.ts'

const both = ['system:nodes', 'system:authenticated']

type Row = [id: string, changes: FactChanges, outcome: Outcome, code: ReasonCode]

// Ids are those of the case table for kubelet approvers.
const cases: Row[] = [
  ['A1 the request of a healthy kubelet', {}, 'Approve', 'SansProven'],
  [
    'B4 the group system:nodes is missing',
    { spec: { groups: ['system:authenticated'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['B5 a further group', { spec: { groups: [...both, 'foo-bar'] } }, 'Approve', 'SansProven'],
  [
    'B6 another group instead',
    { spec: { groups: ['system:authenticated', 'foo-bar'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['B7 the name of another node', withSubject('system:node:foobar'), 'Deny', 'SubjectMismatch'],
  ['B8 no prefix in the CN', withSubject('worker-1'), 'Deny', 'SubjectMismatch'],
  ['B11 a wrong O', withSubject('system:node:worker-1', ['x']), 'Deny', 'SubjectMismatch'],
  [
    'B12 an O too many',
    withSubject('system:node:worker-1', ['system:nodes', 'system:masters']),
    'Deny',
    'SubjectMismatch',
  ],
  [
    'B13 the same O twice',
    withSubject('system:node:worker-1', ['system:nodes', 'system:nodes']),
    'Deny',
    'SubjectMismatch',
  ],
  ['B17 upper case in the CN', withSubject('system:node:Worker-1'), 'Deny', 'SubjectMismatch'],
  ['B18 spec.extra', { spec: { extra: { k: ['v'] } } }, 'Approve', 'SansProven'],
  [
    'B19 a ServiceAccount with the CN of a node',
    {
      spec: {
        username: 'system:serviceaccount:a:b',
        groups: ['system:serviceaccounts', 'system:authenticated'],
      },
    },
    'Deny',
    'RequesterNotNode',
  ],
  [
    'a ServiceAccount with a CN of its own',
    { spec: { username: 'system:serviceaccount:a:b', groups: [] }, ...withSubject('b') },
    'Ignore',
    'RequesterNotNode',
  ],
  [
    'a bootstrap identity that wants a serving certificate',
    {
      spec: { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] },
    },
    'Deny',
    'RequesterNotNode',
  ],
  [
    'D1 with key encipherment',
    { spec: { usages: ['digital signature', 'key encipherment', 'server auth'] } },
    'Approve',
    'SansProven',
  ],
  ['D3 no usages', { spec: { usages: [] } }, 'Deny', 'UsagesInvalid'],
  [
    'D5 no server auth',
    { spec: { usages: ['digital signature', 'key encipherment'] } },
    'Deny',
    'UsagesInvalid',
  ],
  [
    'D7 signing too',
    { spec: { usages: ['digital signature', 'server auth', 'signing'] } },
    'Deny',
    'UsagesInvalid',
  ],
  ['client usages', { spec: { usages: ['digital signature', 'client auth'] } }, 'Deny', 'UsagesInvalid'],
  [
    'D11 usages in another order',
    { spec: { usages: ['server auth', 'digital signature'] } },
    'Approve',
    'SansProven',
  ],
  ['E1 the host name only', asking(['worker-1'], []), 'Approve', 'SansProven'],
  [
    'E2 internal and external names',
    asking(['worker-1.cluster.internal', 'w1.example.net']),
    'Approve',
    'SansProven',
  ],
  ['E3 addresses only', asking([], ['10.0.0.11']), 'Approve', 'SansProven'],
  ['E9 upper case and trailing dot', asking(['WORKER-1.cluster.internal.']), 'Approve', 'SansProven'],
  ['E10 a wildcard', asking(['*.cluster.internal']), 'Deny', 'ReservedName'],
  ['E13 the name of worker-2', asking(['worker-1', 'worker-2']), 'Deny', 'OwnedByOtherNode'],
  ['E14 an empty name', asking(['']), 'Deny', 'InvalidSan'],
  ['an IP address as a DNS name', asking(['10.0.0.11']), 'Deny', 'InvalidSan'],
  ['a space in a name', asking(['worker 1']), 'Deny', 'InvalidSan'],
  ['E17 the same name twice', asking(['worker-1', 'worker-1']), 'Approve', 'SansProven'],
  ['a name no address proves', asking(['worker-1.other']), 'Wait', 'SanUnproven'],
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
  ['F9 a Node without addresses', { nodes: [nodeNamed('worker-1', {})] }, 'Wait', 'SanUnproven'],
  [
    'F11 an IPv4-mapped address in 16 bytes',
    { asked: { subjectAltName: sans([], [], { ipAddresses: [ip('::ffff:10.0.0.11')] }) } },
    'Approve',
    'SansProven',
  ],
  ...[
    '0.0.0.0',
    '::',
    '127.0.0.1',
    '::1',
    '169.254.169.254',
    'fe80::1',
    '224.0.0.1',
    'ff02::1',
    '255.255.255.255',
  ].map(
    (address): Row => [
      `F14 the reserved address ${address}, even if the Node lists it`,
      { ...withAddresses({ [address]: 'InternalIP' }), ...asking([], [address]) },
      'Deny',
      'ReservedName',
    ],
  ),
  ['F14 an IPv4-mapped loopback address', asking([], ['::ffff:127.0.0.1']), 'Deny', 'ReservedName'],
  ['F15 a service address', asking([], ['10.96.0.1']), 'Deny', 'ReservedName'],
  ['F15 the address of worker-2', asking([], ['10.0.0.12']), 'Deny', 'OwnedByOtherNode'],
  [
    'F16 an address of worker-2 that the Node claims as well',
    { ...withAddresses({ '10.0.0.12': 'InternalIP' }), ...asking([], ['10.0.0.12']) },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'F17 a Node address with a zone, the rest proven',
    { ...withAddresses({ 'fe80::1%eth0': 'InternalIP' }), ...asking([]) },
    'Approve',
    'SansProven',
  ],
  [
    'an address that the Node lists as a host name proves an IP SAN',
    { ...withAddresses({ '10.0.0.99': 'Hostname' }), ...asking([], ['10.0.0.99']) },
    'Approve',
    'SansProven',
  ],
  ...[
    'kubernetes',
    'kubernetes.default',
    'KUBERNETES.default.svc',
    'kubernetes.default.svc.cluster.local',
    'dns.kube-system.svc',
    'localhost',
  ].map((name): Row => [`the name ${name}`, asking([name]), 'Deny', 'ReservedName']),
  [
    'G1 an email address',
    { asked: { subjectAltName: sans(['worker-1'], [], { emailAddresses: ['a@b'] }) } },
    'Deny',
    'ForbiddenSanType',
  ],
  [
    'G2 a URI',
    { asked: { subjectAltName: sans(['worker-1'], [], { uris: ['spiffe://a/b'] }) } },
    'Deny',
    'ForbiddenSanType',
  ],
  ['G4 no SAN', { asked: { subjectAltName: sans([], []), extensions: [] } }, 'Deny', 'InvalidSan'],
  [
    'G5 an otherName',
    { asked: { subjectAltName: sans(['worker-1'], [], { others: [0] }) } },
    'Deny',
    'ForbiddenSanType',
  ],
  [
    'G8 a critical SAN',
    { asked: { extensions: [{ ...extension('2.5.29.17'), critical: true }] } },
    'Approve',
    'SansProven',
  ],
  [
    'G10 basicConstraints',
    { asked: { extensions: [extension('2.5.29.17'), extension('2.5.29.19')] } },
    'Deny',
    'ForbiddenExtension',
  ],
  [
    'G11 an extended key usage',
    { asked: { extensions: [extension('2.5.29.37')] } },
    'Deny',
    'ForbiddenExtension',
  ],
  ...['P-256', 'P-384', 'P-521', 'Ed25519', 'RSA-2048', 'RSA-4096'].map(
    (keyType): Row => [`H1 a key ${keyType}`, { asked: { keyType } }, 'Approve', 'SansProven'],
  ),
  ...['P-224', 'RSA-1024', 'RSA-16384', 'secp256k1', 'DSA'].map(
    (keyType): Row => [`H2 a key ${keyType}`, { asked: { keyType } }, 'Deny', 'WeakKey'],
  ),
  [
    'H3 a SHA-1 signature',
    { asked: { signatureAlgorithm: 'ecdsa-with-SHA1' as 'Ed25519' } },
    'Deny',
    'WeakKey',
  ],
  [
    'an oddity',
    { asked: { oddities: [{ code: 'trailing-elements', text: 'more after the end' }] } },
    'Deny',
    'Malformed',
  ],
  [
    'an oddity while the Node is missing',
    { nodes: [], asked: { oddities: [{ code: 'trailing-elements', text: 'x' }] } },
    'Deny',
    'Malformed',
  ],
  ['no Node yet', { nodes: [worker2] }, 'Wait', 'NodeNotFound'],
  ['no Node after five minutes', { nodes: [worker2], now: createdAt + 300_000 }, 'Deny', 'NodeNotFound'],
  [
    'no evidence after five minutes',
    { ...asking(['worker-1.other']), now: createdAt + 300_000 },
    'Deny',
    'SanUnproven',
  ],
  ['no policy', { policy: undefined }, 'Hold', 'NoPolicy'],
  [
    'no policy, and no node asks',
    { policy: undefined, spec: { username: 'eve', groups: [] } },
    'Hold',
    'NoPolicy',
  ],
  [
    'A14 another signer',
    { spec: { signerName: 'kubernetes.io/kube-apiserver-client' } },
    'Ignore',
    'NotOurs',
  ],
  ['J15 no signer', { spec: { signerName: '' } }, 'Ignore', 'NotOurs'],
]

for (const [id, changes, outcome, code] of cases)
  test(`${id}: ${outcome} ${code}`, () => {
    const verdict = judge(servingFacts(changes))
    assert.deepEqual(
      [verdict.outcome, verdict.reasons[0]?.code],
      [outcome, code],
      verdict.reasons[0]?.message,
    )
  })
