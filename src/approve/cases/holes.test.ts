/**
 * What other approvers let through, and whom they turn away. Each row is an input that at least one of them decides
 * wrongly: `row N` is its row in a comparison that ran their own code. What is a case by its id already is not repeated.
 */
import { test } from 'node:test'
import { signerNames } from '../../kube/types.ts'
import { bothGroups, type Case, clientCases, servingCases } from '../../testing/judged-cases.ts'
import {
  asking,
  createdAt,
  extension,
  nodeNamed,
  sans,
  withAddresses,
  withSubject,
  worker2,
} from '../../testing/judged-request.ts'
import { nameOf } from '../../x509/name.ts'
import { CertifiedIndex } from '../certified-addresses.ts'

const nodeOnly = (addresses: Parameters<typeof nodeNamed>[1]) => ({
  nodes: [nodeNamed('worker-1', addresses), worker2],
})
const hour = 3_600_000
const late = { now: createdAt + 300_000 }
/** The Node's only address is what --hostname-override says. */
const named = { ...nodeOnly({ '10.0.0.11': 'Hostname' }), ...asking([], ['10.0.0.11']) }
const other = new CertifiedIndex()
other.add('worker-1', ['10.0.0.99'], Number.POSITIVE_INFINITY)

const honest: Case[] = [
  ['row 1a: its own name and one address', asking(['worker-1']), 'Approve', 'SansProven'],
  ['row 1b: all three names and all three addresses, as a kubelet asks', {}, 'Approve', 'SansProven'],
  [
    'row 16: the dot is on the Node alone',
    {
      ...nodeOnly({ 'worker-1.local.': 'InternalDNS', '10.0.0.11': 'InternalIP' }),
      ...asking(['worker-1.local']),
    },
    'Approve',
    'SansProven',
  ],
  [
    'row 18: the Node writes the address FD00:0:0::11',
    { ...nodeOnly({ 'FD00:0:0::11': 'InternalIP' }), ...asking([], ['fd00::11']) },
    'Approve',
    'SansProven',
  ],
  [
    'row 20: the host name is an address, which is an InternalIP too',
    { ...named, ...withAddresses({}) },
    'Approve',
    'SansProven',
  ],
  ['row 20b: the host name is an address, and nothing else says so', named, 'Approve', 'SansProven'],
  [
    'an address of the Node that nobody can read does not stand against the others',
    { ...withAddresses({ 'not an address!': 'InternalIP', '': 'ExternalIP' }), ...asking([]) },
    'Approve',
    'SansProven',
  ],
  [
    'a request that is two hours old, of a Node that is there',
    { ...asking([]), now: createdAt + 2 * hour },
    'Approve',
    'SansProven',
  ],
  ['row 28: the Node is not there yet', { nodes: [worker2] }, 'Wait', 'NodeNotFound'],
  [
    'row 25: ten years are asked for: the signer cuts them to what it gives',
    { spec: { expirationSeconds: 315_360_000 } },
    'Approve',
    'SansProven',
  ],
]

const hostile: Case[] = [
  ["row 2: the victim's address alone", asking([], ['10.0.0.12']), 'Deny', 'OwnedByOtherNode'],
  [
    "row 3: its own name and the victim's address",
    asking(['worker-1'], ['10.0.0.12']),
    'Deny',
    'OwnedByOtherNode',
  ],
  ['row 4: its own name and a foreign one', asking(['worker-1', 'evil.example.com']), 'Wait', 'SanUnproven'],
  [
    'row 4: the same when waiting is over',
    { ...asking(['worker-1', 'evil.example.com']), ...late },
    'Deny',
    'SanUnproven',
  ],
  [
    'row 5: a foreign name that begins with its own',
    { ...asking(['worker-1.evil.example.com']), ...late },
    'Deny',
    'SanUnproven',
  ],
  [
    'a foreign name that begins with the name of a node called "a"',
    {
      nodes: [nodeNamed('a', { a: 'Hostname' })],
      spec: { username: 'system:node:a' },
      asked: {
        subject: nameOf({ commonName: 'system:node:a', organizations: ['system:nodes'] }),
        subjectAltName: sans(['auth.company.ch'], []),
      },
      ...late,
    },
    'Deny',
    'SanUnproven',
  ],
  ["row 6: the victim's name and address", asking(['worker-2'], ['10.0.0.12']), 'Deny', 'OwnedByOtherNode'],
  [
    'row 7: a ServiceAccount asks for a node',
    {
      spec: {
        username: 'system:serviceaccount:default:x',
        groups: ['system:serviceaccounts', 'system:authenticated'],
      },
    },
    'Deny',
    'RequesterNotNode',
  ],
  ['row 8: one node asks for another', { ...withSubject('system:node:worker-2') }, 'Deny', 'SubjectMismatch'],
  [
    'row 9: system:masters beside system:nodes',
    withSubject('system:node:worker-1', ['system:nodes', 'system:masters']),
    'Deny',
    'SubjectMismatch',
  ],
  [
    'row 10: client auth beside server auth',
    { spec: { usages: ['digital signature', 'server auth', 'client auth'] } },
    'Deny',
    'UsagesInvalid',
  ],
  ['row 10b: digital signature alone', { spec: { usages: ['digital signature'] } }, 'Deny', 'UsagesInvalid'],
  [
    'row 13b: a wildcard beside its own name',
    asking(['worker-1', '*.cluster.internal']),
    'Deny',
    'ReservedName',
  ],
  ['row 13c: the name kubernetes', asking(['kubernetes']), 'Deny', 'ReservedName'],
  ['row 22: an address as a DNS name', asking(['10.0.0.11']), 'Deny', 'InvalidSan'],
  ['row 22c: a name with a NUL in it', asking(['worker-1\0.evil']), 'Deny', 'InvalidSan'],
  [
    'row 24: the node has written the address of the victim to its own Node',
    { ...withAddresses({ '10.0.0.12': 'InternalIP' }), ...asking([], ['10.0.0.12']) },
    'Deny',
    'OwnedByOtherNode',
  ],
  [
    'row 30: username and common name end at the prefix',
    { spec: { username: 'system:node:' }, ...withSubject('system:node:') },
    'Deny',
    'RequesterNotNode',
  ],
  [
    'row 31: BasicConstraints CA:TRUE is asked for',
    { asked: { extensions: [extension('2.5.29.17'), extension('2.5.29.19')] } },
    'Deny',
    'ForbiddenExtension',
  ],
  [
    'names of the live certificate that the Node has no more stay unproven for ever',
    { certified: other, ...asking([], ['10.0.0.99']), ...late },
    'Deny',
    'SanUnproven',
  ],
  [
    'a shared credential named kubelet',
    { spec: { username: 'kubelet', groups: ['system:authenticated'] } },
    'Deny',
    'RequesterNotNode',
  ],
]

const client: Case[] = [
  [
    'row 29: a node asks kube-apiserver-client for its own name',
    {
      spec: { signerName: signerNames.apiserverClient, username: 'system:node:worker-1', groups: bothGroups },
    },
    'Ignore',
    'NotOurs',
  ],
  [
    'row 29b: a kubelet renews its client certificate',
    {
      spec: { username: 'system:node:worker-1', groups: bothGroups },
      access: { tried: ['selfnodeclient'], allowed: 'selfnodeclient' },
    },
    'Approve',
    'AutoApproved',
  ],
]
for (const [title, run] of [...servingCases([...honest, ...hostile]), ...clientCases(client)])
  test(title, run)
