/** Outages that others had while a CA was changed, by their number in their own trackers: each is a blocker here. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConsumerFacts, Observations } from './observations.ts'
import { readiness, readinessSentence } from './readiness.ts'
import { step } from './step.ts'
import {
  authority,
  consumer,
  days,
  hours,
  later,
  minutes,
  narrowBundle,
  planIn,
  presenting,
  quiet,
  start,
} from './testing/quiet-cluster.ts'

const told = (phase: Parameters<typeof planIn>[0], seen: Observations, change = {}) => {
  const { phase: next, blockers } = step(planIn(phase, change), seen)
  return [next, ...blockers.map(({ code, about }) => `${code} ${about}`)]
}
const stale = (id: string, kind: ConsumerFacts['kind'], change: Partial<ConsumerFacts> = {}) =>
  consumer(id, kind, {
    proof: { level: 3, generation: 1, instance: 'boot-1', at: start, authorities: [1] },
    ...change,
  })

test('OCPBUGS-25821: a kubelet that has not loaded the new CA keeps the old one served', () => {
  const seen = quiet({ consumers: [consumer('node-1'), stale('node-2', 'Kubelet')] })
  assert.deepEqual(told('Proving', seen), ['Proving', 'Unproven node-2'])
  assert.equal(
    step(planIn('Proving'), seen).effects.some(({ kind }) => kind === 'present'),
    false,
  )
})

test('OCPBUGS-30119: a key that is there is never asked to be made again', () => {
  const effects = step(planIn('Prepared'), quiet({ bundles: [] })).effects
  assert.deepEqual(
    effects.map(({ kind }) => kind).filter(kind => kind === 'create-authority'),
    [],
  )
})

test('OCPBUGS-31384: of two orchestrators the older one orders nothing', () => {
  const effects = step(planIn('Bridging', { fencing: 2 }), quiet()).effects
  assert.deepEqual(effects, [])
})

test('MCO 2974e2d44: silence of the network is no refusal, and undoes nothing', () => {
  const silent = quiet({
    consumers: [consumer('node-1', 'Kubelet', { lastSeen: start - hours })],
    servers: presenting('bare'),
  })
  const { phase, effects } = step(planIn('Unbridging'), silent)
  assert.notEqual(phase, 'Paused')
  assert.equal(
    effects.some(effect => effect.kind === 'present' && effect.mode !== 'bare'),
    false,
  )
})

test('OCPBUGS-76338: the orchestrator itself is a consumer, and the first to answer', () => {
  assert.deepEqual(told('Proving', quiet({ consumers: [stale('rollcall', 'Orchestrator')] })), [
    'Proving',
    'Unproven rollcall',
  ])
})

test('MCO PR 2802: nodes that take no orders are named before anything begins', () => {
  const consumers = [
    consumer('node-1'),
    stale('paused-1', 'Kubelet', { orderable: false }),
    stale('node-2', 'Kubelet'),
  ]
  const ready = readiness(planIn('Preflight'), quiet({ consumers }))
  assert.deepEqual(
    ready.consumers.map(({ id, verdict }) => `${id} ${verdict}`),
    ['node-1 Proven', 'paused-1 Blocker', 'node-2 WillBeRestarted'],
  )
  assert.equal(readinessSentence(ready), 'roll today and you lose 2 of 3: paused-1, node-2')
})

test('a role without consumers does not claim that each has answered', () => {
  const ready = readiness(planIn('Preflight'), quiet({ consumers: [] }))
  assert.equal(readinessSentence(ready), 'roll today and you lose nobody: no consumer of it is known')
})

test('rancher#21709: a process older than its file is unproven, though the file is right', () => {
  const proof = { level: 1, generation: 2, instance: 'boot-1', at: start } as const
  assert.deepEqual(told('Proving', quiet({ consumers: [consumer('node-1', 'Kubelet', { proof })] })), [
    'Proving',
    'Unproven node-1',
  ])
})

test('rancher#14731: what restarted nodes start with is read back before anything is served', () => {
  const sinks = quiet().sinks.map(sink => (sink.seed ? { ...sink, generation: 1, anchors: [1] } : sink))
  assert.deepEqual(told('Distributing', quiet({ sinks })), [
    'Distributing',
    'SinkStale cluster-info',
    'SinkStale cluster-info',
  ])
  const removing = quiet({
    sinks,
    servers: presenting('bare'),
    signer: { authority: 2, mode: 'bare', canaryAccepted: [2] },
  })
  assert.deepEqual(told('Unbridging', removing), ['Unbridging', 'SinkStale cluster-info'])
})

test('rancher#39653: a kubeconfig that an installer copied long ago is a consumer until a human has looked', () => {
  const calico = stale('calico', 'External', { orderable: false })
  const seen = quiet({ consumers: [calico] })
  assert.deepEqual(told('Proving', seen), ['Proving', 'Unproven calico'])
  const { wishes } = planIn('Proving')
  const word = (by: string) => ({
    wishes: { ...wishes, acknowledgements: [{ consumer: 'calico', by, at: start }] },
  })
  assert.equal(
    told('Proving', seen, word('anna'))[0],
    'Proving',
    'the author of the plan does not vouch for it',
  )
  assert.equal(told('Proving', seen, word('berta'))[0], 'Bridging')
  const refuted = quiet({ consumers: [{ ...calico, lastFailure: start + 1 }] })
  assert.equal(told('Proving', refuted, word('berta'))[0], 'Proving', 'a refusal after it contradicts')
})

test('gardener#15301: who joined while bundles were changing counts from the first contact', () => {
  const joiner = consumer('joiner', 'Kubelet', { instance: 'boot-9' })
  assert.deepEqual(told('Proving', quiet({ consumers: [consumer('node-1'), joiner] })), [
    'Proving',
    'Unproven joiner',
  ])
})

test('kops#12343: nothing is dropped while a leaf of the old CA is alive, whoever holds it', () => {
  const holders = new Map([[1, [{ holder: 'admin.conf', notAfter: start + days, renewable: false }]]])
  const signer = { authority: 2, mode: 'bridged', canaryAccepted: [2] } as const
  const seen = quiet({
    signer,
    servers: presenting('bridged'),
    leaves: { holders, ledgerComplete: true, lastUsed: new Map() },
  })
  assert.deepEqual(told('Reissuing', seen), ['Reissuing', 'LiveLeaf admin.conf'])
  assert.equal(told('Reissuing', later(seen, 2 * days))[0], 'Unbridging')
  const young = {
    ...seen,
    leaves: {
      holders: new Map(),
      ledgerComplete: false,
      lastUsed: new Map([[1, new Map([['user/anna', start - minutes]])]]),
    },
  }
  assert.deepEqual(told('Reissuing', young), [
    'Reissuing',
    'LedgerIncomplete ledger',
    'OldChainInUse user/anna',
  ])
})

test('OCPBUGS-86699: a CA that would not outlive its own rotation is no CA to change to', () => {
  const authorities = new Map([
    [1, authority(1)],
    [2, authority(2, { notBefore: start, notAfter: start + 20 * days })],
  ])
  assert.deepEqual(told('Prepared', quiet({ authorities })), ['Prepared', 'LifeTooShort new CA'])
})

test('who is not known to verify the new algorithm is named for that, not for trust', () => {
  const proof = { level: 2, generation: 2, instance: 'boot-1', at: start } as const
  const authorities = new Map([
    [1, authority(1, { algorithm: 'RSA-2048' })],
    [2, authority(2, { algorithm: 'ML-DSA-65' })],
  ])
  const consumers = [
    consumer('new', 'Kubelet', { proof, algorithms: ['ML-DSA-65'] }),
    consumer('old', 'Kubelet', { proof, algorithms: ['P-256'] }),
  ]
  const seen = quiet({ authorities, consumers })
  assert.deepEqual(told('Proving', seen, { reason: 'Algorithm' }), ['Proving', 'AlgorithmUnsupported old'])
})

test('CVE-2025-68121: dropping a CA on a server counts only when that instance has refused a certificate of it', () => {
  const servers = quiet().servers.map(({ presents: _, ...server }) => ({
    ...server,
    judgesBy: narrowBundle,
    accepts: [2],
  }))
  const signer = { authority: 2, mode: 'bare', canaryAccepted: [2] } as const
  const plan = { role: 'client', serverBundle: narrowBundle }
  assert.deepEqual(told('DistrustingServers', quiet({ servers, signer }), plan), [
    'DistrustingServers',
    'NotRefused api-1',
    'NotRefused api-2',
  ])
  const refused = servers.map(server => ({ ...server, refused: [1] }))
  assert.equal(
    told('DistrustingServers', quiet({ servers: refused, signer }), plan)[0],
    'DistrustingConsumers',
  )
})

test('removal waits for as many people as the policy asks for, and the author is none of them', () => {
  const seen = quiet({
    servers: presenting('bare'),
    signer: { authority: 2, mode: 'bare', canaryAccepted: [2] },
  })
  const { wishes } = planIn('Unbridging')
  const approvedBy = (...approvals: string[]) =>
    told('Unbridging', seen, { policy: { approvals: 2 }, wishes: { ...wishes, approvals } })
  assert.deepEqual(approvedBy('anna', 'berta', 'berta'), ['Unbridging', 'ApprovalMissing approvals'])
  assert.equal(approvedBy('berta', 'carl')[0], 'DistrustingServers')
})

test('a clock that is ahead sees leaves end that are alive: none counts as ended while clocks disagree', () => {
  const holders = new Map([[1, [{ holder: 'node-1', notAfter: start + days, renewable: false }]]])
  const signer = { authority: 2, mode: 'bridged', canaryAccepted: [2] } as const
  const leaves = { holders, ledgerComplete: true, lastUsed: new Map() }
  const seen = later(quiet({ signer, servers: presenting('bridged'), leaves }), 6 * days)
  assert.equal(told('Reissuing', seen)[0], 'Unbridging')
  const disputed = told('Reissuing', { ...seen, clockSkew: 6 * days })
  assert.deepEqual(disputed, ['Reissuing', 'ClockDisputed clocks', 'LiveLeaf node-1'])
})
