import type { ReadFacts } from '../facts.ts'
import { requesterOf } from '../requester.ts'
import type { Rule } from '../rule.ts'

export const accessReviewed: Rule<ReadFacts> = {
  name: 'AccessReviewed',
  sentence:
    'The requester may create certificatesigningrequests/selfnodeclient or …/nodeclient, unless its machine is attested.',
  only: 'client',
  check({ csr, access, policy }) {
    // It is never bound to nodeclient: then kube-controller-manager would approve whatever name it asks for.
    if (requesterOf(csr, policy).kind === 'attested') return undefined
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
