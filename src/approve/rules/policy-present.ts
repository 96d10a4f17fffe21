import type { Facts } from '../facts.ts'
import type { Rule } from '../rule.ts'
import { kindOf } from './our-signer.ts'

export const policyPresent: Rule<Facts> = {
  name: 'PolicyPresent',
  sentence: 'A policy says how serving requests are judged, and the one that was written can be used.',
  check({ csr, policy, policyUnusable }) {
    if (policy) return undefined
    // What it would have asked for is not known, and may be stricter for client requests than no policy at all.
    if (policyUnusable !== undefined)
      return { outcome: 'Hold', code: 'NoPolicy', message: `the policy cannot be used: ${policyUnusable}` }
    if (kindOf(csr) !== 'serving') return undefined
    return {
      outcome: 'Hold',
      code: 'NoPolicy',
      message:
        'no policy says how serving requests are judged; create a CertificatePolicy named default, start the controller with --policy FILE, or decide with `kubectl certificate approve`',
    }
  },
}
