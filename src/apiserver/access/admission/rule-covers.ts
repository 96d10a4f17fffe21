/** Whether rights that somebody holds include rights that he wants to give (RBAC's escalation check). */
import type { PolicyRule } from '../../../kube/types.ts'
import { pathMatches } from '../authorization/rule-matches.ts'

type List = readonly string[]

const includesAll = (list: List, wanted: List) => wanted.every(value => list.includes(value))
const coversAll = (list: List, wanted: List) => list.includes('*') || includesAll(list, wanted)

function coversResource(held: List, resource: string): boolean {
  if (held.includes('*') || held.includes(resource)) return true
  const slash = resource.indexOf('/')
  return slash >= 0 && held.includes(`*/${resource.slice(slash + 1)}`)
}

function coversNames(held: List, wanted: List): boolean {
  return held.length === 0 || (wanted.length > 0 && includesAll(held, wanted))
}

function ruleCovers(held: PolicyRule, wanted: PolicyRule): boolean {
  return (
    coversAll(held.verbs, wanted.verbs) &&
    coversAll(held.apiGroups ?? [], wanted.apiGroups ?? []) &&
    (wanted.resources ?? []).every(resource => coversResource(held.resources ?? [], resource)) &&
    (wanted.nonResourceURLs ?? []).every(path =>
      (held.nonResourceURLs ?? []).some(pattern => pathMatches(pattern, path)),
    ) &&
    coversNames(held.resourceNames ?? [], wanted.resourceNames ?? [])
  )
}

/** The rule as rules of one verb and one object each, so that different held rules can cover different parts of it. */
function parts(rule: PolicyRule): PolicyRule[] {
  const names = rule.resourceNames?.length ? rule.resourceNames.map(name => [name]) : [undefined]
  // A rule on its way to validation may lack its verbs; it grants nothing then.
  const verbs = rule.verbs ?? []
  const ofResources = (rule.apiGroups ?? []).flatMap(group =>
    (rule.resources ?? []).flatMap(resource =>
      verbs.flatMap(verb =>
        names.map(resourceNames => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(resourceNames && { resourceNames }),
        })),
      ),
    ),
  )
  const ofPaths = (rule.nonResourceURLs ?? []).flatMap(path =>
    verbs.map(verb => ({ verbs: [verb], nonResourceURLs: [path] })),
  )
  return [...ofResources, ...ofPaths]
}

/** The parts of `wanted` that no rule of `held` covers; empty when all is held. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(parts).filter(part => !held.some(rule => ruleCovers(rule, part)))
}

/** Joins rules that differ in their verbs only, in the order of their first verb. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const compact = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const { verbs, ...rest } = rule
    const key = rest.nonResourceURLs ? JSON.stringify(rule) : JSON.stringify(rest)
    const known = compact.get(key)
    compact.set(key, known ? { ...known, verbs: [...known.verbs, ...verbs] } : rule)
  }
  return [...compact.values()]
}
