import type { ReadFacts } from '../facts.ts'
import { requestedSans } from '../requested-sans.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'

export const noOtherNodesAddress: Rule<ReadFacts> = {
  name: 'NoOtherNodesAddress',
  sentence: 'No SAN is a name or address that another Node claims.',
  only: 'serving',
  check({ request, claims }) {
    const self = subjectNode(request)
    for (const san of requestedSans(request)) {
      // A node writes its own status.addresses: what two claim is proof of nothing (approvers F16).
      const other = claims.holders(san.canonical).find(holder => holder !== self)
      if (other === undefined) continue
      return deny(
        'OwnedByOtherNode',
        `SAN ${san.shown} is also claimed by node "${other}" (metadata.name or status.addresses)`,
      )
    }
    return undefined
  },
}
