import type { ReadFacts } from '../facts.ts'
import { termsOf } from '../policy-terms.ts'
import { deny, type Rule } from '../rule.ts'

export const lifetimeInRange: Rule<ReadFacts> = {
  name: 'LifetimeInRange',
  sentence:
    'The lifetime asked for lies within that of the policy; where none is asked for, Rollcall’s signer keeps to it, and with another signer it has to be asked for.',
  check(facts) {
    const { expirationSeconds } = facts.csr.spec
    const { min, max } = termsOf(facts).lifetime
    if (expirationSeconds === undefined) {
      if (max === Number.POSITIVE_INFINITY || !facts.signedElsewhere) return undefined
      const why = `no lifetime is asked for, and its signer is not Rollcall's: ask for at most ${max} seconds (expirationSeconds)`
      return deny('LifetimeOutOfRange', why)
    }
    if (expirationSeconds >= min && expirationSeconds <= max) return undefined
    const range = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
    return deny('LifetimeOutOfRange', `expirationSeconds ${expirationSeconds} is not ${range} seconds`)
  },
}
