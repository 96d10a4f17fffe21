import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asking, clientFacts, createdAt, servingFacts, worker1, worker2 } from '../testing/judged-request.ts'
import type { EvidenceProvider } from './evidence/provider.ts'
import type { ReadFacts } from './facts.ts'
import { judge } from './judge.ts'
import type { ApprovalPolicy, Pool } from './policy.ts'

const label = 'node-restriction.kubernetes.io/pool'
const labelled = { ...worker1, metadata: { ...worker1.metadata, labels: { [label]: 'a', zone: 'z' } } }
const inventory: EvidenceProvider = {
  name: 'inventory',
  level: 'Inventory',
  evidence: () => ({ proven: new Map() }),
  holders: () => [],
  attributes: () => ({ rack: 'r1' }),
}
const failing: EvidenceProvider = {
  ...inventory,
  evidence: () => ({ error: 'gone' }),
  attributes: () => ({}),
}
const inA = { nodeLabels: { [label]: 'a' } }
const inRack = { inventoryAttributes: { rack: 'r1' } }

function verdictOf(
  policy: Partial<ApprovalPolicy>,
  changes: Parameters<typeof servingFacts>[0] = {},
): string {
  const { outcome, reasons } = judge(
    servingFacts({
      nodes: [labelled, worker2],
      evidence: [inventory],
      policy: { evidence: 'NodeStatus', allowedRanges: [], ...policy },
      ...changes,
    }),
  )
  return `${outcome} ${reasons[0]?.code}`
}
const pools = (...list: Omit<Pool, 'name'>[]) => ({
  pools: list.map((pool, n) => ({ name: `p${n}`, ...pool })),
})

const cases: [what: string, policy: Partial<ApprovalPolicy>, verdict: string][] = [
  [
    'in no pool the policy’s own terms count',
    pools({ nodeLabels: { [label]: 'b' }, evidence: 'Inventory' }),
    'Approve SansProven',
  ],
  [
    'a pool replaces the level of the policy',
    { evidence: 'Inventory', ...pools({ ...inA, evidence: 'NodeStatus' }) },
    'Approve SansProven',
  ],
  [
    'of two pools the stricter level counts',
    pools({ ...inA, evidence: 'NodeStatus' }, { ...inRack, evidence: 'Inventory' }),
    'Wait SanUnproven',
  ],
  [
    'a pool without a level has the policy’s, beside one that is laxer',
    { evidence: 'Inventory', ...pools(inRack, { ...inA, evidence: 'NodeStatus' }) },
    'Wait SanUnproven',
  ],
  [
    'of two pools the more careful mode counts',
    pools({ ...inA, mode: 'enforce' }, { ...inRack, mode: 'manual' }),
    'Hold ManualApproval',
  ],
  [
    'of two pools both lists of keys must have the key',
    pools({ ...inA, keys: ['P-256'] }, { ...inRack, keys: ['P-384'] }),
    'Deny WeakKey',
  ],
  [
    'the smaller budget of two counts',
    pools({ ...inA, approvalsPerHour: 3 }, { ...inRack, approvalsPerHour: 9 }),
    'Wait Throttled',
  ],
  [
    'a SAN outside the allowed ranges',
    { sans: { ipRanges: ['10.0.0.0/8', 'fd00::/8'] } },
    'Deny SanNotAllowed',
  ],
  [
    'SANs inside all allowed ranges',
    { sans: { ipRanges: ['10.0.0.0/8', 'fd00::/8', '203.0.113.0/24'] } },
    'Approve SansProven',
  ],
  [
    'a name that no pattern fits',
    { sans: { dnsNames: ['worker-1', '*.internal', '*.example.net'] } },
    'Deny SanNotAllowed',
  ],
  [
    'names that patterns fit',
    { sans: { dnsNames: ['worker-1', '*.cluster.internal', '*.example.net'] } },
    'Approve SansProven',
  ],
  ['more SANs than allowed', { sans: { maxCount: 5 } }, 'Deny SanNotAllowed'],
  ['manual mode', { mode: 'manual' }, 'Hold ManualApproval'],
  ['dry run', { mode: 'dryRun' }, 'Ignore DryRun'],
  ['dry run denies nothing', { mode: 'dryRun', keys: ['Ed25519'] }, 'Ignore DryRun'],
  ['an action in place of a denial', { keys: ['Ed25519'], actions: { WeakKey: 'Hold' } }, 'Hold WeakKey'],
  [
    'an action in place of waiting',
    { evidence: 'Inventory', actions: { SanUnproven: 'Deny' } },
    'Deny SanUnproven',
  ],
]
for (const [what, policy, verdict] of cases) {
  test(`terms of a policy: ${what}`, () => {
    const history = { denials: 0, approvals: 5 }
    assert.equal(verdictOf(policy, { history }), verdict)
  })
}

test('while the inventory that pools select by cannot be read, no node is judged by laxer terms', () => {
  const policy = pools({ ...inRack, mode: 'manual' as const })
  assert.equal(verdictOf(policy, { evidence: [failing] }), 'Retry EvidenceUnavailable')
  const client = clientFacts({
    evidence: [failing],
    policy: { evidence: 'NodeStatus', allowedRanges: [], ...policy },
  })
  assert.equal(judge(client).outcome, 'Retry')
})

test('a pool of a bootstrap credential judges first client requests, and not those of who has another', () => {
  const asked = (group: string): ReadFacts =>
    clientFacts({
      policy: {
        evidence: 'NodeStatus',
        allowedRanges: [],
        ...pools({ bootstrapGroups: [group], mode: 'manual' }),
      },
    })
  assert.equal(judge(asked('system:bootstrappers:kubeadm:default-node-token')).outcome, 'Hold')
  assert.equal(judge(asked('system:bootstrappers:metal')).outcome, 'Approve')
})

test('a lifetime outside the range is denied, one that is left out is the signer’s to say', () => {
  const lifetime = { minSeconds: 3600, maxSeconds: 86_400 }
  const asks = (expirationSeconds: number) => verdictOf({ lifetime }, { spec: { expirationSeconds } })
  assert.deepEqual(
    [asks(600), asks(3600), asks(86_400), asks(90_000)],
    ['Deny LifetimeOutOfRange', 'Approve SansProven', 'Approve SansProven', 'Deny LifetimeOutOfRange'],
  )
  assert.equal(verdictOf({ lifetime }), 'Approve SansProven')
})

test('key encipherment is denied where the policy says so', () => {
  const spec = { usages: ['digital signature', 'key encipherment', 'server auth'] }
  assert.equal(verdictOf({ keyEncipherment: 'deny' }, { spec }), 'Deny UsagesInvalid')
  assert.equal(verdictOf({}, { spec }), 'Approve SansProven')
})

test('dry run holds nothing either, not even what expires into a denial, nor what cannot be believed', () => {
  const held: Partial<ApprovalPolicy> = { mode: 'dryRun', keys: ['Ed25519'], actions: { WeakKey: 'Hold' } }
  assert.equal(verdictOf(held, { now: createdAt + 30 * 86_400_000 }), 'Ignore DryRun')
  const problem = { code: 'BadSignature', message: '' } as const
  const { request } = servingFacts()
  const forged = { reading: { request, problem } }
  assert.equal(verdictOf(pools({ ...inA, mode: 'dryRun' }), forged), 'Ignore DryRun')
  assert.equal(verdictOf({}, forged), 'Deny BadSignature')
})

test('an action never makes ours what is not ours to decide', () => {
  const stranger = { spec: { username: 'somebody', groups: [] }, ...asking([], []) }
  const policy = { evidence: 'NodeStatus', allowedRanges: [], actions: { RequesterNotNode: 'Deny' } } as const
  const facts = servingFacts({ ...stranger, policy })
  const other = { ...facts, reading: { problem: { code: 'Malformed' as const, message: '' } } }
  assert.equal(judge(other).outcome, 'Ignore')
})
