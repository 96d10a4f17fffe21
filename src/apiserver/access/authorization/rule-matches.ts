import type { PolicyRule } from '../../../kube/types.ts'
import type { Attributes } from '../access.ts'

const has = (list: readonly string[] | undefined, value: string) => list?.includes(value) ?? false

/** Whether a rule's pattern for a path covers it: equal, or a prefix where the pattern ends in `*`. */
export function pathMatches(pattern: string, path: string): boolean {
  if (pattern === path) return true
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''))
}

function resourceMatches(rule: PolicyRule, resource: string, subresource: string): boolean {
  if (!rule.resources) return false
  if (subresource === '') return has(rule.resources, '*') || has(rule.resources, resource)
  return (
    has(rule.resources, '*') ||
    has(rule.resources, `${resource}/${subresource}`) ||
    has(rule.resources, `*/${subresource}`)
  )
}

/** Whether one RBAC rule allows what is asked. A rule for `pods` says nothing about `pods/log`. */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, '*') && !has(rule.verbs, attributes.verb)) return false
  if (attributes.resource === undefined) {
    const { path = '' } = attributes
    return rule.nonResourceURLs?.some(pattern => pathMatches(pattern, path)) ?? false
  }
  if (!has(rule.apiGroups, '*') && !has(rule.apiGroups, attributes.group ?? '')) return false
  if (!resourceMatches(rule, attributes.resource, attributes.subresource ?? '')) return false
  return (
    !rule.resourceNames || rule.resourceNames.length === 0 || has(rule.resourceNames, attributes.name ?? '')
  )
}
