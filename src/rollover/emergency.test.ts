import assert from 'node:assert/strict'
import { test } from 'node:test'
import { step } from './step.ts'
import { consumer, narrowBundle, planIn, quiet, start } from './testing/quiet-cluster.ts'

const servers = quiet().servers.map(({ presents: _, probes: __, ...server }) => ({
  ...server,
  judgesBy: 2,
  accepts: [1, 2],
}))
const compromise = { role: 'client', reason: 'Compromise' } as const
const unanswered = ['node-1', 'node-2'].map(id => consumer(id, 'Kubelet', { instance: 'boot-2' }))

test('a compromised CA is frozen at once; going on waits for somebody who has seen who will be cut off', () => {
  const frozen = step(planIn('Freezing', compromise), quiet({ servers, consumers: unanswered }))
  assert.equal(frozen.phase, 'Freezing')
  assert.deepEqual(
    frozen.effects.map(({ kind }) => kind),
    ['freeze-approval', 'sign-with'],
  )
  assert.match(frozen.blockers.at(-1)?.message ?? '', /2 of 2 consumers will be cut off/)
})

test('then servers drop it, all at once, without waiting for an answer of anybody', () => {
  const plan = planIn('Freezing', {
    ...compromise,
    wishes: { ...planIn('Freezing').wishes, confirmedBy: 'berta' },
  })
  const seen = quiet({ servers, consumers: unanswered, signer: { mode: 'bare', canaryAccepted: [] } })
  const { phase, effects } = step(plan, seen)
  assert.equal(phase, 'EmergencyDistrust')
  const dropped = effects.flatMap(effect =>
    effect.kind === 'client-trust' ? `${effect.server} ${effect.generation}` : [],
  )
  assert.deepEqual(dropped, [`api-1 ${narrowBundle}`, `api-2 ${narrowBundle}`])
})

test('only when every server has proven to refuse it does the standby sign, and nodes renew in one wave', () => {
  const distrusting = planIn('EmergencyDistrust', { ...compromise, serverBundle: narrowBundle })
  const dropped = servers.map(server => ({ ...server, judgesBy: narrowBundle, accepts: [2] }))
  const signer = { mode: 'bare', canaryAccepted: [] } as const
  const asked = step(distrusting, quiet({ servers: dropped, signer, consumers: unanswered }))
  assert.deepEqual([asked.phase, asked.effects.at(-1)?.kind], ['EmergencyDistrust', 'try-refusal'])
  const refusing = dropped.map(server => ({ ...server, refused: [1] }))
  const switched = step(distrusting, quiet({ servers: refusing, signer, consumers: unanswered }))
  assert.deepEqual(
    [switched.phase, switched.effects[0]],
    ['EmergencySwitch', { kind: 'sign-with', authority: 2, mode: 'bare' }],
  )
  const holders = new Map([
    [1, unanswered.map(({ id }) => ({ holder: id, notAfter: start + 1, renewable: true }))],
  ])
  const reissuing = step(planIn('EmergencyReissue', { ...compromise, serverBundle: narrowBundle }), {
    ...quiet({ servers: refusing, consumers: unanswered }),
    signer: { authority: 2, mode: 'bare', canaryAccepted: [2] },
    leaves: { holders, ledgerComplete: true, lastUsed: new Map() },
  })
  assert.deepEqual(
    reissuing.effects.flatMap(effect => (effect.kind === 'renew' ? effect.holder : [])),
    ['node-1', 'node-2'],
  )
})

test('an emergency has no way back', () => {
  const plan = planIn('EmergencyDistrust', {
    ...compromise,
    wishes: { ...planIn('Freezing').wishes, rollback: true },
  })
  assert.equal(step(plan, quiet({ servers })).phase, 'EmergencyDistrust')
})

test('what was under way for the role ends when an emergency begins, and never goes on after it', () => {
  for (const phase of ['Proving', 'Reissuing', 'DistrustingConsumers'] as const) {
    const { plan, effects } = step(planIn(phase), quiet({ supersededBy: 'client-3' }))
    assert.deepEqual([plan.phase, plan.history.at(-1)?.reason, effects], ['Aborted', 'Superseded', []])
  }
  const emergency = planIn('EmergencyDistrust', compromise)
  assert.equal(step(emergency, quiet({ servers, supersededBy: 'client-4' })).plan.phase, 'EmergencyDistrust')
})

test('an emergency does not soak: the stolen CA is dropped everywhere as soon as the next one is served', () => {
  const seen = quiet()
  const served = seen.servers.map(server => ({
    ...server,
    presents: { authority: 2, mode: 'bare' as const, since: seen.now },
    probes: { oldOnly: false, newOnly: true, both: true },
  }))
  const signer = { authority: 2, mode: 'bare', canaryAccepted: [2] } as const
  const switched = planIn('EmergencySwitch', { reason: 'Compromise' })
  assert.equal(step(switched, quiet({ servers: served, signer })).phase, 'EmergencyReissue')
})
