import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest } from '../kube/types.ts'
import {
  clientFacts,
  createdAt,
  type FactChanges,
  ip,
  nodeNamed,
  sans,
  servingFacts,
  worker1,
  worker2,
} from '../testing/judged-request.ts'
import { nameOf } from '../x509/name.ts'
import { judge, rules } from './judge.ts'
import type { Outcome, ReasonCode } from './verdict.ts'

const subject = (commonName: string, organizations = ['system:nodes']) =>
  nameOf({ commonName, organizations })
const both = ['system:nodes', 'system:authenticated']
const asked = (dnsNames: string[], addresses: string[] = ['10.0.0.11']) => ({
  asked: { subjectAltName: sans(dnsNames, addresses) },
})
const extension = (id: string) => ({ id, critical: false, value: new Uint8Array() })
const withAddresses = (addresses: Record<string, string>) => ({
  nodes: [nodeNamed('worker-1', { '10.0.0.11': 'InternalIP', ...addresses }), worker2],
})

type Row = [id: string, changes: FactChanges, outcome: Outcome, code: ReasonCode]

// Ids are those of the case table for kubelet approvers.
const servingCases: Row[] = [
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
  [
    'B7 the name of another node',
    { asked: { subject: subject('system:node:foobar') } },
    'Deny',
    'SubjectMismatch',
  ],
  ['B8 no prefix in the CN', { asked: { subject: subject('worker-1') } }, 'Deny', 'SubjectMismatch'],
  [
    'B11 a wrong O',
    { asked: { subject: subject('system:node:worker-1', ['x']) } },
    'Deny',
    'SubjectMismatch',
  ],
  [
    'B12 an O too many',
    { asked: { subject: subject('system:node:worker-1', ['system:nodes', 'system:masters']) } },
    'Deny',
    'SubjectMismatch',
  ],
  [
    'B13 the same O twice',
    { asked: { subject: subject('system:node:worker-1', ['system:nodes', 'system:nodes']) } },
    'Deny',
    'SubjectMismatch',
  ],
  [
    'B17 upper case in the CN',
    { asked: { subject: subject('system:node:Worker-1') } },
    'Deny',
    'SubjectMismatch',
  ],
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
    { spec: { username: 'system:serviceaccount:a:b', groups: [] }, asked: { subject: subject('b') } },
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
  ['E1 the host name only', asked(['worker-1'], []), 'Approve', 'SansProven'],
  [
    'E2 internal and external names',
    asked(['worker-1.cluster.internal', 'w1.example.net']),
    'Approve',
    'SansProven',
  ],
  ['E3 addresses only', asked([], ['10.0.0.11']), 'Approve', 'SansProven'],
  ['E9 upper case and trailing dot', asked(['WORKER-1.cluster.internal.']), 'Approve', 'SansProven'],
  ['E10 a wildcard', asked(['*.cluster.internal']), 'Deny', 'ReservedName'],
  ['E13 the name of worker-2', asked(['worker-1', 'worker-2']), 'Deny', 'OwnedByOtherNode'],
  ['E14 an empty name', asked(['']), 'Deny', 'InvalidSan'],
  ['an IP address as a DNS name', asked(['10.0.0.11']), 'Deny', 'InvalidSan'],
  ['a space in a name', asked(['worker 1']), 'Deny', 'InvalidSan'],
  ['E17 the same name twice', asked(['worker-1', 'worker-1']), 'Approve', 'SansProven'],
  ['a name no address proves', asked(['worker-1.other']), 'Wait', 'SanUnproven'],
  ['F1 the InternalIP', asked([], ['10.0.0.11']), 'Approve', 'SansProven'],
  ['F3 the IPv6 InternalIP', asked([], ['fd00::11']), 'Approve', 'SansProven'],
  [
    'F4 an IPv6 address that the Node writes in full',
    {
      ...withAddresses({ '2080:1000:1000:8ff0:0:0:0:0': 'InternalIP' }),
      ...asked([], ['2080:1000:1000:8ff0::']),
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
      { ...withAddresses({ [address]: 'InternalIP' }), ...asked([], [address]) },
      'Deny',
      'ReservedName',
    ],
  ),
  ['F14 an IPv4-mapped loopback address', asked([], ['::ffff:127.0.0.1']), 'Deny', 'ReservedName'],
  ['F15 a service address', asked([], ['10.96.0.1']), 'Deny', 'ReservedName'],
  ['F15 the address of worker-2', asked([], ['10.0.0.12']), 'Deny', 'OwnedByOtherNode'],
  [
    'F16 an address of worker-2 that the Node claims as well',
    { ...withAddresses({ '10.0.0.12': 'InternalIP' }), ...asked([], ['10.0.0.12']) },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'F17 a Node address with a zone, the rest proven',
    { ...withAddresses({ 'fe80::1%eth0': 'InternalIP' }), ...asked([]) },
    'Approve',
    'SansProven',
  ],
  [
    'an address that the Node lists as a host name proves an IP SAN',
    { ...withAddresses({ '10.0.0.99': 'Hostname' }), ...asked([], ['10.0.0.99']) },
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
  ].map((name): Row => [`the name ${name}`, asked([name]), 'Deny', 'ReservedName']),
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
    { ...asked(['worker-1.other']), now: createdAt + 300_000 },
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

const clientCases: Row[] = [
  ['a bootstrapping node', {}, 'Approve', 'AutoApproved'],
  ['a bootstrapping node, no policy', { policy: undefined }, 'Approve', 'AutoApproved'],
  ['a bootstrapping node before its Node is there', { nodes: [] }, 'Approve', 'AutoApproved'],
  ['C-31 an empty node name', { asked: { subject: subject('system:node:') } }, 'Deny', 'SubjectMismatch'],
  [
    'a node name that no Node can have',
    { asked: { subject: subject('system:node:a/b') } },
    'Deny',
    'SubjectMismatch',
  ],
  [
    'J11 a renewal',
    {
      spec: { username: 'system:node:worker-1', groups: both },
      access: { tried: ['selfnodeclient'], allowed: 'selfnodeclient' },
    },
    'Approve',
    'AutoApproved',
  ],
  [
    'J12 a node asks for another',
    { spec: { username: 'system:node:worker-2', groups: both } },
    'Deny',
    'SubjectMismatch',
  ],
  [
    'a stranger asks for a node',
    { spec: { username: 'eve', groups: ['system:authenticated'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['J4 serving usages', { spec: { usages: ['digital signature', 'server auth'] } }, 'Deny', 'UsagesInvalid'],
  [
    'a SAN in a client request',
    { asked: { extensions: [extension('2.5.29.17')] } },
    'Deny',
    'ForbiddenSanType',
  ],
  ['access not reviewed yet', { access: undefined }, 'Retry', 'AccessNotReviewed'],
  [
    'C-14 access not allowed',
    { access: { tried: ['selfnodeclient', 'nodeclient'] } },
    'Retry',
    'NotAuthorised',
  ],
]

for (const [facts, cases] of [
  [servingFacts, servingCases],
  [clientFacts, clientCases],
] as const)
  for (const [id, changes, outcome, code] of cases)
    test(`${id}: ${outcome} ${code}`, () => {
      const verdict = judge(facts(changes))
      assert.deepEqual(
        [verdict.outcome, verdict.reasons[0]?.code],
        [outcome, code],
        verdict.reasons[0]?.message,
      )
    })

const decided: [string, Partial<CertificateSigningRequest>][] = [
  ['A4 denied', { status: { conditions: [{ type: 'Denied', status: 'True' }] } }],
  ['A5 failed', { status: { conditions: [{ type: 'Failed', status: 'True' }] } }],
  ['A12 approved', { status: { conditions: [{ type: 'Approved', status: 'True' }] } }],
  ['A6 issued', { status: { certificate: 'eA==' } }],
  ['A7 being deleted', { metadata: { name: 'c', deletionTimestamp: '2026-03-01T12:00:00Z' } }],
]
for (const [state, changes] of decided)
  test(`${state}: the request is left alone`, () => {
    const facts = servingFacts()
    assert.equal(judge({ ...facts, csr: { ...facts.csr, ...changes } }).outcome, 'Ignore')
  })

test('a request that does not parse is denied where a node asks, ignored where a stranger asks', () => {
  const problem = { code: 'Malformed', message: 'spec.request does not parse' } as const
  assert.equal(judge({ ...servingFacts(), reading: { problem } }).outcome, 'Deny')
  const stranger = servingFacts({ spec: { username: 'eve', groups: [] } })
  assert.equal(judge({ ...stranger, reading: { problem } }).outcome, 'Ignore')
})

test('a policy may allow loopback addresses in given ranges, no others, and never service addresses', () => {
  const policy = {
    evidence: 'NodeStatus',
    allowedRanges: ['127.0.1.0/24', '10.96.0.0/12'],
    serviceRanges: ['10.96.0.0/12'],
  } as const
  const outcome = (address: string) =>
    judge(servingFacts({ ...withAddresses({ [address]: 'InternalIP' }), ...asked([], [address]), policy }))
      .outcome
  assert.equal(outcome('127.0.1.7'), 'Approve')
  assert.equal(outcome('127.0.2.7'), 'Deny')
  assert.equal(outcome('10.96.0.1'), 'Deny')
})

test('waiting ends five minutes after creation, or when the policy says', () => {
  assert.equal(judge(servingFacts({ nodes: [] })).until, createdAt + 300_000)
  const policy = { evidence: 'NodeStatus', allowedRanges: [], waitSeconds: 60 } as const
  assert.equal(judge(servingFacts({ nodes: [], policy })).until, createdAt + 60_000)
})

test('an approval names every SAN with its evidence, and warns of an InternalIP that is left out', () => {
  const { reasons } = judge(servingFacts(asked(['worker-1'])))
  assert.deepEqual(reasons, [
    {
      code: 'SansProven',
      message:
        'Every SAN is proven: DNS "worker-1" (Node worker-1 status.addresses Hostname), ' +
        'IP 10.0.0.11 (Node worker-1 status.addresses InternalIP).',
    },
    { code: 'SanIncomplete', message: 'InternalIP fd00::11 of the node is not requested' },
  ])
})

test('a denial names the SAN and the source', () => {
  const late = { now: createdAt + 300_000 }
  assert.equal(
    judge(servingFacts({ ...asked(['worker-1', 'evil.example']), ...late })).reasons[0]?.message,
    'SAN DNS "evil.example" not on Node worker-1 status.addresses',
  )
  assert.equal(
    judge(servingFacts(asked([], ['10.0.0.12']))).reasons[0]?.message,
    'SAN IP 10.0.0.12 is also claimed by node "worker-2" (metadata.name or status.addresses)',
  )
})

test("C-13, C-14: client requests are answered in Kubernetes' own words", () => {
  const message = (facts: FactChanges) => judge(clientFacts(facts)).reasons[0]?.message
  assert.equal(message({}), 'Auto approving kubelet client certificate after SubjectAccessReview.')
  assert.equal(
    message({ access: { tried: ['selfnodeclient'], allowed: 'selfnodeclient' } }),
    'Auto approving self kubelet client certificate after SubjectAccessReview.',
  )
  assert.equal(
    message({ access: { tried: ['selfnodeclient', 'nodeclient'] } }),
    'recognized csr "csr-abcde" as [selfnodeclient nodeclient] but subject access review was not approved',
  )
})

test('a verdict lists every rule once, in order, with its outcome', () => {
  const verdict = judge(servingFacts(asked(['*.x'])))
  assert.deepEqual(
    verdict.rules.map(({ rule }) => rule),
    rules.map(({ name }) => name),
  )
  const outcome = (name: string) => verdict.rules.find(({ rule }) => rule === name)?.outcome
  assert.equal(outcome('StrongKey'), 'Pass')
  assert.equal(outcome('ClientWithoutSan'), 'NotApplicable')
  assert.equal(outcome('NoReservedName'), 'Deny')
  assert.equal(outcome('SansProven'), 'NotReached')
  assert.ok(
    judge(servingFacts()).rules.every(rule => rule.outcome === 'Pass' || rule.outcome === 'NotApplicable'),
  )
})

test('no request of a node is approved with a SAN that its Node does not list', () => {
  const listed = new Set(worker1.status?.addresses?.map(({ address }) => address))
  const names = ['worker-1', 'worker-2', 'w1.example.net', 'evil.example', '*.example.net', 'localhost']
  const addresses = ['10.0.0.11', '10.0.0.12', '127.0.0.1', '10.96.0.1', '203.0.113.11', '192.0.2.1']
  for (let mask = 1; mask < 1 << 12; mask++) {
    const dns = names.filter((_, bit) => mask & (1 << bit))
    const ips = addresses.filter((_, bit) => mask & (1 << (bit + 6)))
    const approved = judge(servingFacts(asked(dns, ips))).outcome === 'Approve'
    assert.equal(
      approved,
      [...dns, ...ips].every(name => listed.has(name)),
      `${dns} ${ips}`,
    )
  }
})
