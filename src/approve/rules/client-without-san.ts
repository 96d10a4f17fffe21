import type { ReadFacts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'

export const clientWithoutSan: Rule<ReadFacts> = {
  name: 'ClientWithoutSan',
  sentence: 'A client certificate names no address.',
  only: 'client',
  check({ request }) {
    if (request.extensions.length === 0) return undefined
    return deny('ForbiddenSanType', 'a kubelet client request must not have a subjectAltName')
  },
}
