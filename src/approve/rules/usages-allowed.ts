import type { ReadFacts } from '../facts.ts'
import { termsOf } from '../policy-terms.ts'
import { deny, type Rule } from '../rule.ts'

export const usagesAllowed: Rule<ReadFacts> = {
  name: 'UsagesAllowed',
  sentence: 'The policy allows the usage key encipherment where it is asked for.',
  check(facts) {
    if (termsOf(facts).keyEncipherment === 'allow' || !facts.csr.spec.usages.includes('key encipherment'))
      return undefined
    return deny('UsagesInvalid', 'the policy does not allow the usage key encipherment; use an ECDSA key')
  },
}
