import { type RequiredEvidence, strictest } from './evidence/level.ts'
import type { ReadFacts } from './facts.ts'
import type { Pool } from './policy.ts'
import { subjectNode } from './subject-node.ts'

export interface Requirement {
  level: RequiredEvidence
  /** Names of the pools that the node is in; empty: the policy's own level counts. */
  pools: readonly string[]
}

/** The level at which every SAN must be proven: the strictest of the pools that the node is in, else the policy's. */
export function requirementOf(facts: ReadFacts): Requirement {
  const { policy } = facts
  const pools = (policy?.pools ?? []).filter(pool => isIn(pool, facts))
  const level = strictest(pools.map(({ evidence }) => evidence)) ?? policy?.evidence ?? 'Inventory'
  return { level, pools: pools.map(({ name }) => name) }
}

function isIn({ nodeLabels = {}, inventoryAttributes = {} }: Pool, facts: ReadFacts): boolean {
  const nodeName = subjectNode(facts.request) ?? ''
  const labels = facts.node?.metadata.labels ?? {}
  const attributes = Object.assign({}, ...(facts.evidence ?? []).map(source => source.attributes?.(nodeName)))
  return holdsAll(labels, nodeLabels) && holdsAll(attributes, inventoryAttributes)
}

function holdsAll(have: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(have, key) && have[key] === value)
}
