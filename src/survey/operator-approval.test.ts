import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { servingFacts } from '../testing/judged-request.ts'
import { decideApproval, decideDenial } from './operator-approval.ts'

const claim = fc.record(
  { shown: fc.string({ minLength: 1 }), wildcard: fc.boolean(), evidence: fc.constant('Node a') },
  { requiredKeys: ['shown', 'wildcard'] },
)
const decided = fc.constantFrom('Approved', 'Denied', undefined)

test('what is approved was undecided, readable, without wildcard, and proven or accepted with a reason', () => {
  const flags = { acceptUnproven: fc.boolean(), reason: fc.option(fc.string(), { nil: undefined }) }
  const facts = fc.record({
    claims: fc.array(claim),
    problem: fc.option(fc.constant('broken'), { nil: undefined }),
    ...flags,
  })
  fc.assert(
    fc.property(facts, decided, ({ claims, problem, acceptUnproven, reason }, type) => {
      const { csr } = servingFacts()
      const conditions = type ? [{ type, status: 'True' as const }] : []
      const decision = decideApproval({
        csr: { ...csr, status: { conditions } },
        claims,
        acceptUnproven,
        now: 0,
        validFor: 0,
        ...(problem && { problem }),
        ...(reason !== undefined && { reason }),
      })
      const proven = claims.every(claim => claim.evidence) || (acceptUnproven && Boolean(reason))
      const wanted = !type && !problem && proven && !claims.some(claim => claim.wildcard)
      assert.equal(decision.outcome === 'write', wanted)
      assert.equal(decision.outcome === 'already', type === 'Approved')
      if (decision.outcome === 'write') {
        for (const { shown } of claims.filter(claim => !claim.evidence))
          assert.ok(decision.message.includes(shown))
      }
    }),
  )
})

test('a denial stands against an approval, and is written once', () => {
  const { csr } = servingFacts()
  const outcome = (type?: string) =>
    decideDenial({ ...csr, status: { conditions: type ? [{ type, status: 'True' }] : [] } }, 'r').outcome
  assert.deepEqual([outcome(), outcome('Denied'), outcome('Approved')], ['write', 'already', 'refuse'])
})
