import { assess } from '../evidence/assessment.ts'
import type { ReadFacts } from '../facts.ts'
import { listed } from '../listed.ts'
import type { Rule } from '../rule.ts'

export const evidenceAvailable: Rule<ReadFacts> = {
  name: 'EvidenceAvailable',
  sentence: 'Every source of evidence that the policy names could be read.',
  only: 'serving',
  check(facts) {
    const { errors } = assess(facts)
    if (errors.length === 0) return undefined
    // Says nothing about the node, so it is never a denial, and what others hold is not known either.
    const message = listed(errors.map(({ provider, text }) => `${provider}: ${text}`))
    return { outcome: 'Retry', code: 'EvidenceUnavailable', message }
  },
}
