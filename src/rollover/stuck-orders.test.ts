/** What fails for good, and places that were read back and still let nobody in: a human looks, and is told at what. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observations } from './observations.ts'
import { step } from './step.ts'
import { consumer, hours, later, minutes, planIn, quiet, start } from './testing/quiet-cluster.ts'

const stuck = [{ about: 'hook present of cp-1', message: 'ended with code 1: no such file' }]
const notServed = (change: Partial<Observations> = {}) => quiet({ ...change })

test('an order that failed for good pauses the rotation and names what failed, until somebody says to go on', () => {
  const paused = step(planIn('Bridging'), notServed({ stuck }))
  assert.equal(paused.phase, 'Paused')
  assert.equal(paused.plan.paused?.reason, 'OrderFailed')
  assert.deepEqual(paused.effects, [], 'nothing is tried again by itself')
  const [first] = paused.blockers
  assert.deepEqual([first?.code, first?.about], ['OrderFailed', 'hook present of cp-1'])
  const still = step(paused.plan, later(notServed({ stuck }), 900 * hours))
  assert.equal(still.phase, 'Paused')
  const wishes = { ...paused.plan.wishes, resume: paused.plan.sequence }
  const going = step({ ...paused.plan, wishes }, later(notServed(), minutes))
  assert.equal(going.phase, 'Bridging')
  assert.equal(going.effects[0]?.kind, 'present')
})

test('a pause before the switch holds in the rotation after this one too, when the old chain is a bare one', () => {
  const servers = quiet().servers.map(server => ({
    ...server,
    presents: { authority: 1, mode: 'bare' as const, since: start - hours },
  }))
  assert.deepEqual(step(planIn('Bridging'), quiet({ servers, stuck })).effects, [])
})

test('an emergency names what failed and goes on with all the rest', () => {
  const plan = planIn('EmergencyDistrust', { reason: 'Compromise', role: 'client' })
  const servers = quiet().servers.map(({ id, instance, healthy }) => {
    return { id, instance, healthy, judgesBy: 2, accepts: [1, 2] }
  })
  const { phase, effects, blockers } = step(plan, quiet({ servers, stuck }))
  assert.equal(phase, 'EmergencyDistrust')
  assert.equal(effects.filter(({ kind }) => kind === 'client-trust').length, 2)
  assert.equal(blockers[0]?.code, 'OrderFailed')
})

test('a seed that was read back, and still brings no fresh machine through, holds the switch and the removal', () => {
  const sinks = quiet().sinks.map(sink =>
    sink.seed ? { ...sink, refused: '10.0.0.1:6443: UNABLE_TO_VERIFY_LEAF_SIGNATURE' } : sink,
  )
  for (const phase of ['Distributing', 'Proving', 'DistrustingServers'] as const) {
    const { phase: next, blockers } = step(planIn(phase), quiet({ sinks }))
    assert.equal(next, phase)
    assert(
      blockers.some(({ code, about }) => code === 'DialRefused' && about === 'cluster-info'),
      phase,
    )
  }
})

test('a role that nobody here manages is refused at the door, with why', () => {
  const preflight = { ...quiet().preflight, unmanaged: 'no CA of it is in --rollover' }
  const { phase, blockers } = step(planIn('Preflight'), quiet({ preflight }))
  assert.equal(phase, 'Preflight')
  assert.deepEqual(
    blockers.map(({ code, message }) => [code, message]),
    [['RoleUnmanaged', 'no CA of it is in --rollover']],
  )
})

test('the word of a named human counts for a kubelet that nothing can try, and for no other', () => {
  const acknowledgements = ['kubelet/a', 'kubelet/b'].map(id => ({ consumer: id, by: 'ben', at: start }))
  const wishes = { ...planIn('Proving').wishes, acknowledgements }
  const old = { level: 0, generation: 1, instance: 'boot-1', at: start } as const
  const consumers = [
    consumer('kubelet/a', 'Kubelet', { proof: old, orderable: false, unprobeable: true }),
    consumer('kubelet/b', 'Kubelet', { proof: old }),
  ]
  const { blockers } = step(planIn('Proving', { wishes }), quiet({ consumers }))
  assert.deepEqual(
    blockers.map(({ about }) => about),
    ['kubelet/b'],
  )
})
