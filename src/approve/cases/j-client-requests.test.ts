import { test } from 'node:test'
import { bothGroups, type Case, clientCases } from '../../testing/judged-cases.ts'
import {
  createdAt,
  extension,
  type FactChanges,
  nodeNamed,
  withSubject,
} from '../../testing/judged-request.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'

const self = { tried: ['selfnodeclient'], allowed: 'selfnodeclient' } as const
const strict = { evidence: 'NodeStatus', allowedRanges: [], rebootstrap: 'deny' } as const
const using = (...usages: string[]) => ({ spec: { usages } })
const [signature, encipherment] = ['digital signature', 'key encipherment']

const known = { evidence: 'NodeStatus', allowedRanges: [], bootstrap: 'Inventory' } as const
/** Machines as whoever runs them writes them down; nobody else bootstraps, and none has a Node yet. */
const inventoried = (nodes: string, more: FactChanges = {}): FactChanges => {
  const inventory = new Inventory('inventory')
  inventory.read(parseInventory({ 'i.yaml': `nodes: { ${nodes} }` }))
  return { policy: { ...known, inventory: { file: 'i.yaml' } }, evidence: [inventory], nodes: [], ...more }
}
const written = (name: string) => inventoried(`worker-1: { names: [${name}] }`)
const machine = (fields: string, more?: FactChanges) =>
  inventoried(`worker-1: { machine: { ${fields} } }`, more)
/** Made so many seconds before the request. */
const madeBefore = (seconds: number) =>
  machine(`created: "${new Date(createdAt - seconds * 1000).toISOString()}"`)
const late = { now: createdAt + 300_000 }
const unread = new Inventory('inventory')
/** The identity of the agent of another product, which runs beside the kubelet. */
const nodeAgent = withSubject('gardener.cloud:node-agent:machine:worker-1', ['gardener.cloud:node-agents'])
const kubelet = { username: 'system:node:worker-1', groups: bothGroups }

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
  [
    'J1 a machine that the inventory knows, that has not joined, and without a Node',
    inventoried('worker-1: {}'),
    'Approve',
    'AutoApproved',
  ],
  ['J7 a machine that no inventory knows', inventoried('worker-2: {}'), 'Wait', 'MachineUnknown'],
  ['J7 the same when waiting is over', inventoried('worker-2: {}', late), 'Deny', 'MachineUnknown'],
  [
    'J7 an inventory that cannot be read',
    inventoried('', { evidence: [unread], ...late }),
    'Retry',
    'EvidenceUnavailable',
  ],
  [
    'J7 two entries for the machine',
    inventoried('worker-1: {} }\n---\nnodes: { worker-1: {}'),
    'Deny',
    'InventoryAmbiguous',
  ],
  [
    'J7 it has its certificate: who renews was known before',
    inventoried('worker-2: {}', { spec: kubelet, access: self }),
    'Approve',
    'AutoApproved',
  ],
  ['J7 the policy asks for no more than a credential', { nodes: [] }, 'Approve', 'AutoApproved'],
  ['J8 a machine that has its Node', machine('joined: true'), 'Deny', 'NodeExists'],
  [
    'J8 the same, where nodes may bootstrap again',
    machine('joined: true', {
      policy: { ...known, inventory: { file: 'i.yaml' }, rebootstrap: 'allow' },
    }),
    'Approve',
    'AutoApproved',
  ],
  ['J10 eight minutes after the machine was made', madeBefore(480), 'Approve', 'AutoApproved'],
  ['J10 nine seconds before', madeBefore(-9), 'Approve', 'AutoApproved'],
  ['J10 a minute before', madeBefore(-60), 'Deny', 'JoinWindowMissed'],
  ['J10 25 hours after', madeBefore(90_000), 'Deny', 'JoinWindowMissed'],
  [
    'J10 25 hours after, in a window of 26',
    { ...madeBefore(90_000), policy: { ...known, inventory: { file: 'i.yaml' }, joinWindowSeconds: 93_600 } },
    'Approve',
    'AutoApproved',
  ],
  ['I4 a machine that is being set up', machine('state: Pending'), 'Wait', 'MachineNotReady'],
  ['I4 a machine that is being deleted', machine('state: Deleting'), 'Wait', 'MachineNotReady'],
  [
    'J16 a machine is there, and has no Node: the agent joins',
    inventoried('worker-1: {}'),
    'Approve',
    'AutoApproved',
  ],
  [
    'J16 its Node is there',
    inventoried('worker-1: {}', { nodes: [nodeNamed('worker-1', {})] }),
    'Deny',
    'NodeExists',
  ],
  ['J16 another machine', inventoried('worker-2: {}', late), 'Deny', 'MachineUnknown'],
  [
    'J16 a kubelet asks for the agent of another product',
    { ...nodeAgent, spec: { ...kubelet, signerName: 'kubernetes.io/kube-apiserver-client' } },
    'Ignore',
    'NotOurs',
  ],
  ['J16 the same of the kubelets’ signer', { ...nodeAgent, spec: kubelet }, 'Deny', 'SubjectMismatch'],
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
