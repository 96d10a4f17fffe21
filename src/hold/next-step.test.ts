import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clientTemplate } from '../join/template.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { emptyHoldState, failed, type HoldState, holding, rejected, started, wanting } from './hold-state.ts'
import { type HoldRules, nextStep } from './next-step.ts'

const hour = 3_600_000
const rules: HoldRules = { renew: true, signsWithHeld: true, longestSleep: 60_000 }
const template = clientTemplate('node-a', 'Ed25519')
const authority = await createTestAuthority(seededRandom(1))
const { chain } = await authority.issue(template, { notBefore: 0, notAfter: 10 * hour })
const [leaf] = parseCertificatesPem(chain) as [Certificate]
const at = (wall: number, monotonic = wall) => ({ wall, monotonic })

const wanted = wanting(emptyHoldState, template)
/** Holds the certificate of ten hours, to be renewed after eight. */
const held = holding(wanted, leaf, 0.5, undefined)

test('the deadline is part of the state, so the decision is a function of state and time alone', () => {
  assert.equal(held.held?.deadline, 8 * hour)
  assert.deepEqual(nextStep(held, rules, at(8 * hour - 1)), { do: 'sleep', milliseconds: 1 })
  assert.deepEqual(nextStep(held, rules, at(8 * hour)), { do: 'request', cause: 'renewal' })
  assert.deepEqual(nextStep(held, rules, at(10 * hour)), { do: 'request', cause: 'renewal' })
  assert.deepEqual(nextStep(held, rules, at(10 * hour + 1)), { do: 'request', cause: 'expired' })
})

test('nothing wanted or nothing held', () => {
  assert.deepEqual(nextStep(emptyHoldState, rules, at(0)), { do: 'sleep' })
  assert.deepEqual(nextStep(wanted, rules, at(0)), { do: 'request', cause: 'initial' })
})

test('sleeps are never longer than a minute while a certificate is held, so a jump is noticed', () => {
  assert.deepEqual(nextStep(held, rules, at(hour)), { do: 'sleep', milliseconds: 60_000 })
  assert.deepEqual(nextStep(held, { ...rules, longestSleep: Infinity }, at(hour)), {
    do: 'sleep',
    milliseconds: 7 * hour,
  })
})

test('an attempt under way is waited for with a look at the lapse, and given up when its own credential is useless', () => {
  const renewing = started(held, 'renewal', template, at(8 * hour))
  assert.deepEqual(nextStep(renewing, rules, at(10 * hour - 5)), { do: 'sleep', milliseconds: 6 })
  assert.equal(nextStep(renewing, rules, at(10 * hour + 1)).do, 'cancel')
  const refused = rejected(renewing, renewing.held?.serial ?? '', 0, at(9 * hour))
  assert.equal(nextStep(refused, rules, at(9 * hour)).do, 'cancel')
  const serving = { ...rules, signsWithHeld: false }
  assert.equal(
    nextStep(renewing, serving, at(10 * hour + 1)).do,
    'sleep',
    'the client certificate signs that one',
  )
  const recovering = started(held, 'expired', template, at(11 * hour))
  assert.equal(nextStep(recovering, rules, at(12 * hour)).do, 'sleep')
})

test('the backoff of a renewal does not delay the answer to a lapse', () => {
  const waiting = failed(started(held, 'renewal', template, at(9 * hour)), 'renewal', 0, at(10 * hour))
  assert.deepEqual(nextStep(waiting, rules, at(10 * hour)), { do: 'sleep', milliseconds: 1 })
  assert.deepEqual(nextStep(waiting, rules, at(10 * hour + 1)), { do: 'request', cause: 'expired' })
})

test('sleeping as told never passes a moment at which something is to be done', () => {
  const moment = fc.integer({ min: -hour, max: 12 * hour })
  fc.assert(
    fc.property(moment, fc.boolean(), fc.nat(6), (wall, renew, failures) => {
      let state: HoldState = held
      for (let count = 0; count < failures; count++) state = failed(state, 'renewal', 0.5, at(wall))
      const step = nextStep(state, { ...rules, renew }, at(wall))
      if (step.do !== 'sleep') return
      const { milliseconds = Infinity } = step
      assert.ok(milliseconds > 0)
      // One millisecond earlier there is still nothing to do.
      const before = Math.min(milliseconds, 60_000) - 1
      assert.equal(nextStep(state, { ...rules, renew }, at(wall + before)).do, 'sleep')
    }),
  )
})
