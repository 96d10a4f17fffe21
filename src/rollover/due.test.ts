import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyDue } from './due.ts'
import { schedule } from './expiry.ts'
import { policyOf } from './policy.ts'

const day = 86_400_000
const active = { notBefore: 0, notAfter: 3650 * day }
const { timings } = policyOf()
const { latestStart } = schedule(active, timings)

test('a rotation is due from its latest start on, and not a moment before', () => {
  const facts = { active, timings, leafLife: 90 * day }
  assert.equal(whyDue({ ...facts, now: latestStart - 1 }), undefined)
  assert.equal(whyDue({ ...facts, now: latestStart }), 'LatestStart')
})

test('where leaves live longer than the margin it is due when the first would be shortened', () => {
  const facts = { active: { notBefore: 3250 * day, notAfter: 3650 * day }, timings, leafLife: 365 * day }
  assert.equal(whyDue({ ...facts, now: 3284 * day }), undefined)
  assert.equal(whyDue({ ...facts, now: 3286 * day }), 'LeavesShortened')
})

test('earlier rotations that took long have the next begin earlier', () => {
  const past = { prove: [20 * day] }
  assert.equal(
    whyDue({ active, timings, past, leafLife: 90 * day, now: latestStart - 50 * day }),
    'LatestStart',
  )
})
