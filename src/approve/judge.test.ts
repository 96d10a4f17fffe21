import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asking,
  clientFacts,
  createdAt,
  type FactChanges,
  servingFacts,
  withAddresses,
  worker1,
} from '../testing/judged-request.ts'
import { judge, rules } from './judge.ts'

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
    judge(servingFacts({ ...withAddresses({ [address]: 'InternalIP' }), ...asking([], [address]), policy }))
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
  const { reasons } = judge(servingFacts(asking(['worker-1'])))
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
    judge(servingFacts({ ...asking(['worker-1', 'evil.example']), ...late })).reasons[0]?.message,
    'SAN DNS "evil.example" not on Node worker-1 status.addresses; proven: ' +
      'DNS "worker-1" (Node worker-1 status.addresses Hostname), IP 10.0.0.11 (Node worker-1 status.addresses InternalIP)',
  )
  assert.equal(
    judge(servingFacts(asking([], ['10.0.0.12']))).reasons[0]?.message,
    'SAN IP 10.0.0.12 is also claimed by node "worker-2" (status.addresses), which keeps it: nothing proves it for this node',
  )
})

test('C-10: what is decided is skipped; what cannot be read is denied at once, where Kubernetes tries it again for ever', () => {
  const { csr } = clientFacts()
  const decided = (type: string) => ({
    csr: { ...csr, status: { conditions: [{ type, status: 'True' as const }] } },
  })
  const problem = { code: 'Malformed', message: 'x' } as const
  const verdicts = [decided('Approved'), decided('Denied'), { reading: { problem } }].map(changes => {
    const { outcome, reasons } = judge(clientFacts(changes))
    return `${outcome} ${reasons[0]?.code}`
  })
  assert.deepEqual(verdicts, ['Ignore AlreadyDecided', 'Ignore AlreadyDecided', 'Deny Malformed'])
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
  const verdict = judge(servingFacts(asking(['*.x'])))
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
    const approved = judge(servingFacts(asking(dns, ips))).outcome === 'Approve'
    assert.equal(
      approved,
      [...dns, ...ips].every(name => listed.has(name)),
      `${dns} ${ips}`,
    )
  }
})
