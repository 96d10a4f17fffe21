import { test } from 'node:test'
import { bothGroups, type Case, clientCases } from '../../testing/judged-cases.ts'
import { extension, withSubject } from '../../testing/judged-request.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'

const self = { tried: ['selfnodeclient'], allowed: 'selfnodeclient' } as const
const strict = { evidence: 'NodeStatus', allowedRanges: [], rebootstrap: 'deny' } as const
const using = (...usages: string[]) => ({ spec: { usages } })
const [signature, encipherment] = ['digital signature', 'key encipherment']

// J8, J10 and J16 are about Machines, which Rollcall does not read: docs/reference/approver-cases.md.
/** Bare metal as its owner writes it down. */
const written = (name: string) => {
  const inventory = new Inventory('inventory')
  inventory.read(parseInventory({ 'i.yaml': `nodes: { worker-1: { names: [${name}] } }` }))
  return { evidence: [inventory] }
}

const cases: Case[] = [
  [
    'J2 the inventory writes the name in upper case',
    written('WORKER-1.example.net'),
    'Approve',
    'AutoApproved',
  ],
  [
    'J2 the inventory writes the name with a dot',
    written('worker-1.example.net.'),
    'Approve',
    'AutoApproved',
  ],
  ['J1 a bootstrapping node without a Node', { nodes: [] }, 'Approve', 'AutoApproved'],
  ['J4 four usages', using(signature, encipherment, 'client auth', 'server auth'), 'Deny', 'UsagesInvalid'],
  ['J4 server auth instead', using(signature, encipherment, 'server auth'), 'Deny', 'UsagesInvalid'],
  ['J4 client auth is missing', using(signature, encipherment), 'Deny', 'UsagesInvalid'],
  [
    'J5 a user whose name begins like a bootstrapper',
    { spec: { username: 'system:bootstrap:abcdef-not', groups: ['system:authenticated'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['J6 its Node exists', {}, 'Approve', 'AutoApproved'],
  ['J6 its Node exists, and the policy wants none', { policy: strict }, 'Deny', 'NodeExists'],
  ['J6 no Node, and the policy wants none', { policy: strict, nodes: [] }, 'Approve', 'AutoApproved'],
  [
    'J11 a renewal',
    { spec: { username: 'system:node:worker-1', groups: bothGroups }, access: self },
    'Approve',
    'AutoApproved',
  ],
  [
    'J12 a node asks for another',
    { spec: { username: 'system:node:worker-2', groups: bothGroups } },
    'Deny',
    'SubjectMismatch',
  ],
  ['J15 serving usages', using(signature, 'server auth'), 'Deny', 'UsagesInvalid'],
  [
    'J15 the signer for other clients',
    { spec: { signerName: 'kubernetes.io/kube-apiserver-client' } },
    'Ignore',
    'NotOurs',
  ],
  ['J15 no signer', { spec: { signerName: '' } }, 'Ignore', 'NotOurs'],
  ['no policy', { policy: undefined }, 'Approve', 'AutoApproved'],
  ['C-31 an empty node name', withSubject('system:node:'), 'Deny', 'SubjectMismatch'],
  ['a node name that no Node can have', withSubject('system:node:a/b'), 'Deny', 'SubjectMismatch'],
  ['a stranger', { spec: { username: 'eve', groups: ['system:authenticated'] } }, 'Deny', 'RequesterNotNode'],
  ['a SAN', { asked: { extensions: [extension('2.5.29.17')] } }, 'Deny', 'ForbiddenSanType'],
  ['access not reviewed yet', { access: undefined }, 'Retry', 'AccessNotReviewed'],
  [
    'C-14 access not allowed',
    { access: { tried: ['selfnodeclient', 'nodeclient'] } },
    'Retry',
    'NotAuthorised',
  ],
]
for (const [title, run] of clientCases(cases)) test(title, run)
