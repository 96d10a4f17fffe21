import type { Facts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'

export const wellFormed: Rule<Facts> = {
  name: 'WellFormed',
  sentence: 'The request is one PKCS#10 in strict DER, signed with its own key.',
  check: ({ reading }) => reading.problem && deny(reading.problem.code, reading.problem.message),
}
