import type { ReadFacts } from '../facts.ts'
import { termsOf } from '../policy-terms.ts'
import { deny, type Rule } from '../rule.ts'

export const keyAllowed: Rule<ReadFacts> = {
  name: 'KeyAllowed',
  sentence: 'The policy allows the type of the key.',
  check(facts) {
    const { keyType } = facts.request
    const missing = termsOf(facts).keys.find(keys => !keys.includes(keyType))
    return (
      missing && deny('WeakKey', `key ${keyType} is not among those of the policy: ${missing.join(', ')}`)
    )
  },
}
