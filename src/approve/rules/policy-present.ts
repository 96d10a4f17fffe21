import type { Facts } from '../facts.ts'
import type { Rule } from '../rule.ts'

export const policyPresent: Rule<Facts> = {
  name: 'PolicyPresent',
  sentence: 'A policy says how serving requests are judged.',
  only: 'serving',
  check({ policy }) {
    if (policy) return undefined
    return {
      outcome: 'Hold',
      code: 'NoPolicy',
      message:
        'no policy says how serving requests are judged; create a CertificatePolicy named default, start the controller with --policy FILE, or decide with `kubectl certificate approve`',
    }
  },
}
