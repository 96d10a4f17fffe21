import type { ReadFacts } from '../facts.ts'
import type { Rule } from '../rule.ts'

export const accessReviewed: Rule<ReadFacts> = {
  name: 'AccessReviewed',
  sentence: 'The requester may create certificatesigningrequests/selfnodeclient or …/nodeclient.',
  only: 'client',
  check({ csr, access }) {
    if (!access)
      return { outcome: 'Retry', code: 'AccessNotReviewed', message: 'access was not reviewed yet' }
    if (access.allowed) return undefined
    // C-14: stays pending and is asked again, so that a role binding made later lifts it without a new request.
    return {
      outcome: 'Retry',
      code: 'NotAuthorised',
      message: `recognized csr "${csr.metadata.name}" as [${access.tried.join(' ')}] but subject access review was not approved`,
    }
  },
}
