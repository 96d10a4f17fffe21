import type { RequiredEvidence } from './evidence/level.ts'
import type { ReadFacts } from './facts.ts'
import { termsOf } from './policy-terms.ts'

export interface Requirement {
  level: RequiredEvidence
  /** Names of the pools that the node is in; empty: the policy's own level counts. */
  pools: readonly string[]
}

/** The level at which every SAN must be proven: the strictest of the pools that the node is in, else the policy's. */
export function requirementOf(facts: ReadFacts): Requirement {
  const { evidence: level, pools } = termsOf(facts)
  return { level, pools }
}
