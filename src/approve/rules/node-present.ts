import type { ReadFacts } from '../facts.ts'
import { type Rule, waitOrDeny } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'
import { waitingEnds } from '../waiting.ts'

export const nodePresent: Rule<ReadFacts> = {
  name: 'NodePresent',
  sentence: 'The Node object is there.',
  only: 'serving',
  check(facts) {
    if (facts.node) return undefined
    const message = `node "${subjectNode(facts.request)}" has no Node object`
    return waitOrDeny(facts.now, waitingEnds(facts), 'NodeNotFound', message)
  },
}
