/** The terms that a policy sets for one request: of several pools that its node is in, the strictest of each. */
import {
  modes,
  type PolicyMode,
  type PolicyTerms,
  type SanTerms,
} from '../kube/rollcall/certificate-policy/spec.ts'
import { type RequiredEvidence, strictest } from './evidence/level.ts'
import type { ReadFacts } from './facts.ts'
import { lastFound } from './last-found.ts'
import { defaultApprovalsPerHour, type Pool } from './policy.ts'
import { requesterOf } from './requester.ts'
import { subjectNode } from './subject-node.ts'

export interface Terms {
  /** Names of the pools that the node is in; empty: the policy's own terms count. */
  pools: readonly string[]
  evidence: RequiredEvidence
  mode: PolicyMode
  /** All of them must fit. */
  sans: readonly SanTerms[]
  /** Each list must have the key's type. */
  keys: readonly (readonly string[])[]
  keyEncipherment: 'allow' | 'deny'
  /** Seconds. */
  lifetime: { min: number; max: number }
  approvalsPerHour: number
}

/** Several rules of one judgement ask for them. */
export const termsOf: (facts: ReadFacts) => Terms = lastFound(strictestTerms)

function strictestTerms(facts: ReadFacts): Terms {
  const { policy } = facts
  const pools = (policy?.pools ?? []).filter(pool => isIn(pool, facts))
  // What a pool leaves out is the policy's, so that no pool is laxer than it says.
  const all: PolicyTerms[] = pools.length > 0 ? pools.map(pool => ({ ...policy, ...pool })) : [policy ?? {}]
  const given = <K extends keyof PolicyTerms>(field: K) =>
    all.map(terms => terms[field]).filter(value => value !== undefined) as NonNullable<PolicyTerms[K]>[]
  const lifetimes = given('lifetime')
  return {
    pools: pools.map(({ name }) => name),
    evidence: strictest(given('evidence')) ?? 'Inventory',
    mode: modes[Math.max(0, ...given('mode').map(mode => modes.indexOf(mode)))] ?? 'enforce',
    sans: given('sans'),
    keys: given('keys'),
    keyEncipherment: given('keyEncipherment').includes('deny') ? 'deny' : 'allow',
    lifetime: {
      min: Math.max(0, ...lifetimes.map(({ minSeconds = 0 }) => minSeconds)),
      max: Math.min(...lifetimes.map(({ maxSeconds }) => maxSeconds ?? Number.POSITIVE_INFINITY), Infinity),
    },
    approvalsPerHour: Math.min(
      ...all.map(({ approvalsPerHour = defaultApprovalsPerHour }) => approvalsPerHour),
    ),
  }
}

function isIn(
  { nodeLabels = {}, inventoryAttributes = {}, bootstrapGroups }: Pool,
  facts: ReadFacts,
): boolean {
  const nodeName = subjectNode(facts.request) ?? ''
  const labels = facts.node?.metadata.labels ?? {}
  const attributes = Object.assign({}, ...(facts.evidence ?? []).map(source => source.attributes?.(nodeName)))
  return (
    holdsAll(labels, nodeLabels) &&
    holdsAll(attributes, inventoryAttributes) &&
    (bootstrapGroups === undefined || bootstrapsWith(bootstrapGroups, facts))
  )
}

/** The API server stamps the groups of who asks. */
function bootstrapsWith(groups: readonly string[], { csr, policy }: ReadFacts): boolean {
  if (requesterOf(csr, policy).kind !== 'bootstrap') return false
  return csr.spec.groups?.some(group => groups.includes(group)) ?? false
}

function holdsAll(have: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(have, key) && have[key] === value)
}
