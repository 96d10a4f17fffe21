import { type PolicyRule, resources, type UserInfo } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import type { Attributes, Decision } from '../access.ts'
import { buildRbacIndex, type Grant, type RbacIndex, visitGrants } from './rbac-index.ts'
import { ruleAllows } from './rule-matches.ts'

const rbacResources = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.roles,
  resources.roleBindings,
]

/** Gives the index of the current RBAC objects; built anew only after one of them changed. */
export function cachedRbacIndex(reader: ObjectReader): () => RbacIndex {
  let generations: number[] = []
  let index: RbacIndex | undefined
  return () => {
    if (index && rbacResources.every((resource, at) => reader.generation(resource) === generations[at])) {
      return index
    }
    generations = rbacResources.map(resource => reader.generation(resource))
    index = buildRbacIndex(reader)
    return index
  }
}

/** Go's aggregate of errors: one alone, several in brackets, duplicates once. */
export function aggregate(errors: readonly string[]): string {
  const different = [...new Set(errors)]
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`
}

/** RBAC's decision; with its words why, or which roles it could not read. */
export function authorizeByRbac(index: RbacIndex, attributes: Attributes): Decision {
  const errors: string[] = []
  let by = ''
  const allowed = visitGrants(index, attributes.user, attributes.namespace ?? '', (grant: Grant) => {
    if (grant.error !== undefined) errors.push(grant.error)
    if (!grant.rules.some(rule => ruleAllows(rule, attributes))) return false
    by = grant.description
    return true
  })
  if (allowed) return { allowed, reason: `RBAC: allowed by ${by}` }
  return { allowed, reason: errors.length > 0 ? `RBAC: ${aggregate(errors)}` : '' }
}

/** All rules that RBAC gives the user, cluster-wide and in the namespace, and the roles that could not be read. */
export function rbacRulesFor(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
): { rules: PolicyRule[]; errors: string[] } {
  const rules: PolicyRule[] = []
  const errors: string[] = []
  visitGrants(index, user, namespace, grant => {
    if (grant.error !== undefined) errors.push(grant.error)
    rules.push(...grant.rules)
    return false
  })
  return { rules, errors }
}
