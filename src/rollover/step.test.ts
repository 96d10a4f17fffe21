import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../testing/seeded-random.ts'
import { firstForged } from './history.ts'
import { authorityPool } from './simulated/authority-pool.ts'
import { none } from './simulated/mutations.ts'
import { runOnce, twoOrchestrators } from './simulated/orchestrator.ts'
import { newWorld } from './simulated/world.ts'
import { ordersOf, step } from './step.ts'
import {
  consumer,
  days,
  hours,
  later,
  minutes,
  planIn,
  presenting,
  quiet,
  start,
  wideBundle,
} from './testing/quiet-cluster.ts'
import { everybodyActs } from './testing/schedule.ts'

test('a rotation goes from phase to phase in order, and its history tells on which gates', async () => {
  const world = newWorld({ pool: await authorityPool(2, seededRandom(77)), role: 'apiserver-serving' })
  const [leader] = twoOrchestrators()
  const random = seededRandom(1)
  for (let round = 0; round < 150; round += 1) {
    everybodyActs(world, random)
    runOnce(world, leader, none)
  }
  const { history, id, phase } = world.store.plan
  assert.equal(phase, 'Done')
  const phases = history.filter(({ reason }) => reason === 'GatesOpen').map(({ to }) => to)
  assert.deepEqual(phases, [
    'Prepared',
    'Distributing',
    'Proving',
    'Bridging',
    'IssuerSwitch',
    'Reissuing',
    'Unbridging',
    'DistrustingServers',
    'DistrustingConsumers',
    'Done',
  ])
  const switched = history.find(({ to }) => to === 'Bridging')
  assert.deepEqual(switched?.evidence, ['SEEDS 4/4', 'TRUST 6/6'])
  assert.equal(firstForged(history, id), undefined)
  assert.equal(firstForged(history.with(3, { ...history[3]!, actor: 'mallory' }), id), history[3]?.sequence)
})

test('a step says the same again until the world changes, and records nothing new', () => {
  const unproven = quiet({
    consumers: [
      consumer('node-1', 'Agent', { proof: { level: 0, generation: 1, instance: 'boot-1', at: 0 } }),
    ],
  })
  const once = step(planIn('Proving'), unproven)
  const again = step(once.plan, unproven)
  assert.deepEqual(again, once)
  assert.deepEqual(
    once.effects.map(({ kind }) => kind),
    ['load-bundle', 'probe'],
  )
  assert.deepEqual(ordersOf(once)[0]?.token, 1)
})

test('no gate opens by waiting: after its time the rotation is Paused, and years later still', () => {
  const seen = quiet({
    consumers: [
      consumer('node-1', 'Kubelet', { proof: { level: 1, generation: 2, instance: 'boot-1', at: 0 } }),
    ],
  })
  const paused = step(planIn('Proving'), later(seen, 73 * hours))
  assert.equal(paused.phase, 'Paused')
  assert.equal(paused.plan.paused?.reason, 'TimedOut')
  const years = step(paused.plan, later(seen, 900 * days))
  assert.equal(years.phase, 'Paused')
  assert.deepEqual(years.effects, [])
  assert.deepEqual(
    years.blockers.map(({ code, about }) => `${code} ${about}`),
    ['Unproven node-1'],
  )
})

test('who resumes a pause names it; then the time of the phase begins anew', () => {
  const plan = planIn('Proving', { paused: { since: 0, sequence: 10, reason: 'TimedOut', by: 'x' } })
  const seen = later(quiet({ consumers: [consumer('node-1', 'Agent', { instance: 'boot-2' })] }), 100 * hours)
  assert.equal(step({ ...plan, wishes: { ...plan.wishes, resume: 9 } }, seen).phase, 'Paused')
  const resumed = step({ ...plan, wishes: { ...plan.wishes, resume: 10 } }, seen)
  assert.equal(resumed.phase, 'Proving')
  assert.equal(step(resumed.plan, later(seen, hours)).phase, 'Proving')
})

test('a leader with an older token does nothing, and one that takes over shuts the old one out', () => {
  const plan = planIn('Proving', { fencing: 7 })
  const old = step(plan, quiet({ leader: { identity: 'old', token: 6 } }))
  assert.deepEqual([old.effects.length, old.plan, old.blockers[0]?.code], [0, plan, 'Fenced'])
  const unready = [consumer('node-1', 'Agent', { instance: 'boot-2' })]
  const fresh = step(plan, quiet({ leader: { identity: 'new', token: 8 }, consumers: unready }))
  assert.deepEqual([fresh.plan.fencing, fresh.plan.sequence], [8, plan.sequence + 1])
})

test('a leader that takes over a plan that is behind the world pauses it', () => {
  const seen = quiet({ leader: { identity: 'new', token: 2 }, servers: presenting('bridged') })
  assert.equal(step(planIn('Distributing'), seen).plan.paused?.reason, 'StateMismatch')
})

test('without signed bundles it waits for a ceremony as long as that takes', () => {
  const unsigned = quiet({ bundles: quiet().bundles.slice(0, 2) })
  const waits = step(planIn('Prepared'), later(unsigned, 30 * days))
  assert.equal(waits.phase, 'Prepared')
  assert.deepEqual(new Set(waits.blockers.map(({ code }) => code)), new Set(['CeremonyNeeded']))
  assert.equal(step(waits.plan, later(quiet(), 31 * days)).phase, 'Distributing')
})

test('when clocks disagree nothing times out, nobody is excluded, no wave begins', () => {
  const away = consumer('node-1', 'Kubelet', { lastSeen: 0, instance: 'boot-2' })
  const seen = quiet({ clockSkew: 6 * minutes, consumers: [away] })
  const plan = planIn('Proving', { phaseSince: 0, policy: { offline: 'ExcludeAfter' } })
  const disputed = step(plan, seen)
  assert.equal(disputed.plan, plan)
  assert.equal(disputed.blockers[0]?.code, 'ClockDisputed')
  const excluded = step(plan, { ...seen, clockSkew: 0 }).plan
  assert.deepEqual(
    excluded.excluded.map(({ consumer: id, by }) => `${id} ${by}`),
    ['node-1 policy'],
  )
  assert.equal(
    excluded.history.some(({ reason }) => reason === 'Exclusions'),
    true,
  )
})

test('one consumer that refuses the bare chain brings the bridge back at once, in the pause too', () => {
  const failing = consumer('node-1', 'Kubelet', { lastFailure: later(quiet(), minutes).now })
  const seen = later(
    quiet({
      consumers: [failing],
      servers: presenting('bare'),
      signer: { authority: 2, mode: 'bare', canaryAccepted: [2] },
    }),
    0,
  )
  const stepped = step(planIn('Unbridging'), { ...seen, now: seen.now + 2 * minutes })
  assert.equal(stepped.phase, 'Paused')
  assert.equal(stepped.plan.phase, 'Reissuing')
  const bridged = stepped.effects.filter(({ kind }) => kind === 'present')
  assert.deepEqual(
    bridged.map(effect => effect.kind === 'present' && effect.mode),
    ['bridged', 'bridged'],
  )
})

test('servers change one by one: the first soaks, and none goes on while another is not well', () => {
  const seen = quiet()
  const first = step(planIn('Bridging'), seen).effects.filter(({ kind }) => kind === 'present')
  assert.equal(first.length, 1)
  const [one, two] = seen.servers
  assert(one && two)
  const soaking = { ...one, presents: { authority: 2, mode: 'bridged' as const, since: seen.now - minutes } }
  const presentIn = (servers: typeof seen.servers) =>
    step(planIn('Bridging'), quiet({ servers })).effects.flatMap(effect =>
      effect.kind === 'present' ? effect.server : [],
    )
  assert.deepEqual(presentIn([soaking, two]), [])
  const soaked = { ...soaking, presents: { ...soaking.presents, since: seen.now - hours } }
  assert.deepEqual(presentIn([soaked, two]), ['api-2'])
  assert.deepEqual(presentIn([{ ...soaked, healthy: false }, two]), [])
})

test('it is done only when some who dropped the old CA have refused its chain', () => {
  const proof = { level: 3, generation: 3, instance: 'boot-1', at: start, authorities: [2] } as const
  const agents = ['a', 'b', 'c', 'd'].map(id => consumer(`agent/${id}`, 'Agent', { proof }))
  const sinks = quiet().sinks.map(sink => ({ ...sink, generation: 3, anchors: [2] }))
  const signer = { authority: 2, mode: 'bare', canaryAccepted: [2] } as const
  const seen = quiet({ consumers: agents, sinks, servers: presenting('bare'), signer })
  const plan = planIn('DistrustingConsumers', { bundle: 3, serverBundle: 3, narrowedAt: 3 })
  const asked = step(plan, seen)
  assert.deepEqual(
    asked.effects.flatMap(effect => (effect.kind === 'probe-refusal' ? effect.consumer : [])),
    ['agent/a', 'agent/b', 'agent/c'],
  )
  assert.equal(asked.phase, 'DistrustingConsumers')
  const refusing = agents.map((agent, index) =>
    index < 3 ? { ...agent, proof: { ...proof, refuses: [1] } } : agent,
  )
  const done = step(plan, { ...seen, consumers: refusing })
  assert.deepEqual([done.phase, done.effects[0]?.kind], ['Done', 'retire-key'])
})

test('facts from before the last recorded change decide nothing', () => {
  const plan = planIn('Proving')
  const old = step(plan, quiet({ gatheredAfter: plan.sequence - 1 }))
  assert.deepEqual([old.plan, old.effects, old.blockers[0]?.code], [plan, [], 'StaleObservations'])
  assert.equal(step(plan, quiet({ gatheredAfter: plan.sequence })).phase, 'Bridging')
})

test('the old CA is dropped only while there is a signed way back', () => {
  const signer = { authority: 2, mode: 'bare', canaryAccepted: [2] } as const
  const seen = quiet({ servers: presenting('bare'), signer, bundles: quiet().bundles.slice(0, 3) })
  const waits = step(planIn('Unbridging'), seen)
  assert.deepEqual([waits.phase, waits.blockers.map(({ code }) => code)], ['Unbridging', ['CeremonyNeeded']])
})

test('a phase that a clock began that was ahead times out from now on, not from then', () => {
  const seen = quiet({ preflight: { oldKeyUsable: false, quorumHealthy: true, backupRecent: true } })
  const begun = step(planIn('Preflight', { phaseSince: start + 10 * days }), seen)
  assert.deepEqual([begun.phase, begun.plan.phaseSince], ['Preflight', start])
  assert.equal(step(begun.plan, later(seen, 16 * minutes)).phase, 'Aborted')
})

test('a handshake with the chain of one CA says nothing of another, where no report tells which bundle is loaded', () => {
  const proof = { level: 3, generation: wideBundle, instance: 'boot-1', at: start, authorities: [1] } as const
  const pod = consumer('pod/web-0', 'Pod', { orderable: false, proof: { ...proof, unproven: 0 } })
  const { blockers } = step(planIn('Proving'), quiet({ consumers: [pod] }))
  assert.deepEqual(
    blockers.map(({ code, about }) => [code, about]),
    [['Unproven', 'pod/web-0']],
  )
  assert.equal(step(planIn('Proving'), quiet({ consumers: [{ ...pod, proof }] })).phase, 'Bridging')
})

test('who was left behind and goes on with the old CA until it is refused keeps nobody waiting', () => {
  const signer = { authority: 2, mode: 'bridged', canaryAccepted: [2] } as const
  const servers = presenting('bridged')
  const lastUsed = new Map([[1, new Map([['user/anna', start]])]])
  const seen = quiet({
    signer,
    servers,
    leaves: { holders: new Map(), ledgerComplete: true, lastUsed },
  })
  const waiting = step(planIn('Reissuing'), seen)
  assert.deepEqual(
    waiting.blockers.map(({ code, about }) => [code, about]),
    [['OldChainInUse', 'user/anna']],
  )
  const excluded = [{ consumer: 'user/anna', by: 'berta', reason: 'gone', at: start }]
  assert.equal(step(planIn('Reissuing', { excluded }), seen).phase, 'Unbridging')
})
