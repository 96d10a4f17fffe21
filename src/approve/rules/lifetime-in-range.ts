import type { ReadFacts } from '../facts.ts'
import { termsOf } from '../policy-terms.ts'
import { deny, type Rule } from '../rule.ts'

export const lifetimeInRange: Rule<ReadFacts> = {
  name: 'LifetimeInRange',
  sentence:
    'The lifetime asked for lies within that of the policy; one that is left out is the signer’s to say.',
  check(facts) {
    const { expirationSeconds } = facts.csr.spec
    const { min, max } = termsOf(facts).lifetime
    if (expirationSeconds === undefined || (expirationSeconds >= min && expirationSeconds <= max))
      return undefined
    const range = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
    return deny('LifetimeOutOfRange', `expirationSeconds ${expirationSeconds} is not ${range} seconds`)
  },
}
