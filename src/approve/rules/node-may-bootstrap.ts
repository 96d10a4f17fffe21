import type { ReadFacts } from '../facts.ts'
import { rebootstrapOf } from '../policy.ts'
import { requesterOf } from '../requester.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'

export const nodeMayBootstrap: Rule<ReadFacts> = {
  name: 'NodeMayBootstrap',
  sentence: 'A bootstrap identity asks for a node that has no Node yet, where the policy wants that.',
  only: 'client',
  check({ csr, policy, claims, request }) {
    const nodeName = subjectNode(request)
    if (rebootstrapOf(policy) !== 'deny' || nodeName === undefined || !claims.has(nodeName)) return undefined
    if (requesterOf(csr, policy).kind !== 'bootstrap') return undefined
    return deny(
      'NodeExists',
      `node "${nodeName}" has a Node already; delete it to let the node bootstrap again`,
    )
  },
}
