import type { SanTerms } from '../../kube/rollcall/certificate-policy/spec.ts'
import type { ReadFacts } from '../facts.ts'
import { rangeAround } from '../ip-range.ts'
import { termsOf } from '../policy-terms.ts'
import { type RequestedSan, requestedSans } from '../requested-sans.ts'
import { deny, type Rule } from '../rule.ts'

export const sansAllowed: Rule<ReadFacts> = {
  name: 'SansAllowed',
  sentence: 'The policy allows the names, the addresses and their number.',
  only: 'serving',
  check(facts) {
    const { sans: terms } = termsOf(facts)
    if (terms.length === 0) return undefined
    const sans = requestedSans(facts.request)
    const most = Math.min(...terms.map(({ maxCount = Number.POSITIVE_INFINITY }) => maxCount))
    if (sans.length > most)
      return deny('SanNotAllowed', `${sans.length} SANs are more than the ${most} that the policy allows`)
    for (const term of terms)
      for (const san of sans) {
        const allowed = whereAllowed(san, term)
        if (allowed)
          return deny('SanNotAllowed', `SAN ${san.shown} is not in ${allowed.join(', ')} of the policy`)
      }
    return undefined
  },
}

/** What it would have to fit, or undefined when it does. */
function whereAllowed(san: RequestedSan, { dnsNames, ipRanges }: SanTerms): readonly string[] | undefined {
  if (san.kind === 'IP')
    return ipRanges && rangeAround(ipRanges, san.bytes) === undefined ? ipRanges : undefined
  if (!dnsNames) return undefined
  return dnsNames.some(pattern => matches(san.canonical, pattern.toLowerCase())) ? undefined : dnsNames
}

/** `*.` stands for exactly one label, as in a certificate. */
function matches(name: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return name === pattern
  const dot = name.indexOf('.')
  return dot > 0 && name.slice(dot) === pattern.slice(1)
}
