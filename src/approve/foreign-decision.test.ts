import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asking, servingFacts } from '../testing/judged-request.ts'
import { foreignDecision } from './foreign-decision.ts'
import { judge } from './judge.ts'

const facts = servingFacts(asking(['*.x']))
const decided = (type: string) => ({
  ...facts.csr,
  status: { conditions: [{ type, status: 'True' as const, reason: 'KubectlApprove' }] },
})

test('a decision that would have been the opposite here is a warning with both reasons', () => {
  assert.deepEqual(foreignDecision(decided('Approved'), judge(facts)), {
    type: 'Warning',
    reason: {
      code: 'ForeignDecision',
      message:
        'Approved by another approver (KubectlApprove); the verdict here is Deny ReservedName: ' +
        'SAN DNS "*.x" is a wildcard; a node is never certified for it',
    },
  })
})

test('one that would have been the same is no warning, and a failure is no decision', () => {
  assert.equal(foreignDecision(decided('Denied'), judge(facts))?.type, 'Normal')
  assert.equal(foreignDecision(decided('Failed'), judge(facts)), undefined)
})
