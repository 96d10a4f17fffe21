import type { ReadFacts } from '../facts.ts'
import { termsOf } from '../policy-terms.ts'
import { type Rule, waitOrDeny } from '../rule.ts'
import { answerHeldUntil } from '../waiting.ts'

export const withinBudget: Rule<ReadFacts> = {
  name: 'WithinBudget',
  sentence:
    'The node has not had more certificates of this signer within the hour than the policy lets it have.',
  check(facts) {
    const most = termsOf(facts).approvalsPerHour
    const had = facts.history?.approvals ?? 0
    if (had < most) return undefined
    const message = `the node was approved ${had} times within the hour; at most ${most} are allowed`
    return waitOrDeny(facts.now, answerHeldUntil(facts), 'Throttled', message)
  },
}
