import type { ReadFacts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'

/** Without it a node would be judged by laxer terms just while the inventory cannot be read. */
export const poolsKnown: Rule<ReadFacts> = {
  name: 'PoolsKnown',
  sentence: 'What the pools of the policy select by could be read.',
  check(facts) {
    if (!facts.policy?.pools?.some(pool => pool.inventoryAttributes)) return undefined
    const nodeName = subjectNode(facts.request) ?? ''
    for (const source of facts.evidence ?? []) {
      if (!source.attributes) continue
      const answer = source.evidence(nodeName, [])
      if ('error' in answer)
        return { outcome: 'Retry', code: 'EvidenceUnavailable', message: `${source.name}: ${answer.error}` }
      if ('conflict' in answer) return deny('InventoryAmbiguous', `${source.name}: ${answer.conflict}`)
    }
    return undefined
  },
}
