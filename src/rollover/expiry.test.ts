import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { budget, leavesAreShortened, schedule } from './expiry.ts'
import { policyOf } from './policy.ts'
import { step } from './step.ts'
import {
  authority,
  consumer,
  days,
  hours,
  later,
  planIn,
  presenting,
  quiet,
  start,
} from './testing/quiet-cluster.ts'

const { timings } = policyOf()
const old = authority(1)

test('with the defaults a rotation of a ten-year CA is begun more than a year before its end', () => {
  const ten = { notBefore: start, notAfter: start + 3650 * days }
  const { warnAt, pageAt, latestStart, deadline } = schedule(ten, timings)
  const left = (moment: number) => Math.round((ten.notAfter - moment) / days)
  assert.deepEqual([left(warnAt), left(pageAt), left(latestStart), left(deadline)], [379, 374, 372, 0])
})

test('past runs that took longer make the budget larger, never smaller', () => {
  assert.equal(budget(timings, { prove: [hours] }), budget(timings))
  assert.equal(budget(timings, { prove: [100 * hours] }), budget(timings) + 228 * hours)
})

test('warning, page, latest start, deadline and end come in this order for every CA and every history', () => {
  const runs = fc.record({ prove: fc.array(fc.nat(400 * hours), { maxLength: 5 }) })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8000 }), runs, (life, past) => {
      const ca = { notBefore: start, notAfter: start + life * days }
      const { warnAt, pageAt, latestStart, deadline } = schedule(ca, timings, past)
      assert(warnAt < pageAt && pageAt < latestStart && latestStart < deadline && deadline < ca.notAfter)
    }),
  )
})

test('leaves are shortened by their CA when it ends before they would: the signer must have switched', () => {
  assert.equal(leavesAreShortened(old, 365 * days, old.notAfter - 366 * days), false)
  assert.equal(leavesAreShortened(old, 365 * days, old.notAfter - 300 * days), true)
})

test('when waiting means that everybody loses trust, laggards are left behind by name and the switch goes on', () => {
  const laggard = consumer('node-9', 'Kubelet', {
    proof: { level: 0, generation: 1, instance: 'boot-1', at: start },
  })
  const near = schedule(old, timings).deadline - start
  const before = quiet({ consumers: [consumer('node-1'), laggard] })
  const plan = planIn('Proving', { phaseSince: start + near - hours })
  assert.equal(step(plan, later(before, near - hours)).phase, 'Proving')
  const forced = step(plan, later(before, near + hours))
  assert.deepEqual([forced.phase, forced.plan.deadline], ['Proving', true])
  const next = step(forced.plan, later(before, near + hours))
  assert.equal(next.phase, 'Bridging')
  assert.deepEqual(
    next.plan.excluded.map(({ consumer: id, reason }) => `${id}: ${reason}`),
    ['node-9: the old CA ends before it has proven'],
  )
})

test('a switch that was forced keeps the bridge until the old CA has ended', () => {
  const plan = planIn('Unbridging', { deadline: true })
  const seen = quiet({
    servers: presenting('bridged'),
    signer: { authority: 2, mode: 'bare', canaryAccepted: [2] },
  })
  const presents = (at: number) =>
    step({ ...plan, phaseSince: at }, later(seen, at - start)).effects.filter(
      ({ kind }) => kind === 'present',
    ).length
  assert.equal(presents(old.notAfter - days), 0)
  assert.equal(presents(old.notAfter + days), 1)
})

test('with clocks that disagree no deadline forces anything', () => {
  const seen = later(quiet({ clockSkew: 400 * days }), 999 * days)
  const unproven = { ...seen, consumers: [consumer('node-1', 'Kubelet', { instance: 'boot-2' })] }
  const { plan } = step(planIn('Proving'), unproven)
  assert.deepEqual([plan.deadline, plan.excluded], [false, []])
})

test('a pause that nobody asked for ends at the deadline; one that somebody asked for does not', () => {
  const seen = later(
    quiet({ consumers: [consumer('node-1', 'Kubelet', { instance: 'boot-2' })] }),
    999.9 * days,
  )
  const pausedBy = (reason: string) =>
    planIn('Proving', { paused: { since: start, sequence: 10, reason, by: 'x' } })
  const forced = step(pausedBy('TimedOut'), seen)
  assert.deepEqual([forced.phase, forced.plan.deadline], ['Proving', true])
  const asked = { ...pausedBy('AskedToPause'), wishes: { ...planIn('Proving').wishes, pause: true } }
  assert.equal(step(asked, seen).phase, 'Paused')
})
