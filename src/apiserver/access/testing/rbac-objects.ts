import type { ClusterRole, PolicyRule, RbacSubject, Role, RoleBinding } from '../../../kube/types.ts'

const apiGroup = 'rbac.authorization.k8s.io'
const apiVersion = `${apiGroup}/v1`

export function clusterRoleOf(
  name: string,
  rules: PolicyRule[],
  more: Pick<ClusterRole, 'aggregationRule'> & { labels?: Record<string, string> } = {},
): ClusterRole {
  const { labels, aggregationRule } = more
  return {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name, ...(labels && { labels }) },
    rules,
    ...(aggregationRule && { aggregationRule }),
  }
}

export function roleOf(namespace: string, name: string, rules: PolicyRule[]): Role {
  return { apiVersion, kind: 'Role', metadata: { name, namespace }, rules }
}

/** A ClusterRoleBinding, or with a namespace a RoleBinding; `role` is `ClusterRole/NAME` or `Role/NAME`. */
export function bindingOf(
  name: string,
  role: string,
  subjects: RbacSubject[],
  namespace?: string,
): RoleBinding {
  const [kind, roleName = ''] = role.split('/')
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup, kind: kind === 'Role' ? 'Role' : 'ClusterRole', name: roleName },
    subjects,
  }
}

export const userSubject = (name: string): RbacSubject => ({ kind: 'User', apiGroup, name })
export const groupSubject = (name: string): RbacSubject => ({ kind: 'Group', apiGroup, name })
