import type { ClusterRole, PolicyRule } from '../../../kube/types.ts'

interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

/** metav1.LabelSelector: all of it must hold, an empty one selects everything, an unknown operator nothing. */
function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const labelValue = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labelValue(key) === value)
  if (!equal) return false
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = labelValue(key)
    if (operator === 'Exists') return value !== undefined
    if (operator === 'DoesNotExist') return value === undefined
    if (operator === 'In') return value !== undefined && values.includes(value)
    return operator === 'NotIn' && (value === undefined || !values.includes(value))
  })
}

/** The ClusterRoles that a role's aggregationRule selects, by name, without itself. */
function selectedBy(role: ClusterRole, all: readonly ClusterRole[]): ClusterRole[] {
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? []
  return all
    .filter(
      other => other !== role && selectors.some(selector => selects(selector, other.metadata.labels ?? {})),
    )
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/**
 * The rules that a ClusterRole grants. One with an aggregationRule grants those of the roles it selects, through any
 * number of steps, and none of its own: Kubernetes' controller would overwrite them.
 */
export function effectiveRules(role: ClusterRole, all: readonly ClusterRole[]): readonly PolicyRule[] {
  if (!role.aggregationRule) return role.rules ?? []
  const rules = new Map<string, PolicyRule>()
  const seen = new Set<ClusterRole>()
  const visit = (current: ClusterRole) => {
    if (seen.has(current)) return
    seen.add(current)
    if (current.aggregationRule) for (const selected of selectedBy(current, all)) visit(selected)
    else for (const rule of current.rules ?? []) rules.set(JSON.stringify(rule), rule)
  }
  visit(role)
  return [...rules.values()]
}
