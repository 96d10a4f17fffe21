import type { ClusterRole, PolicyRule, RbacSubject, Role, RoleBinding } from '../../../kube/types.ts'

export type PolicyObject = ClusterRole | Role | RoleBinding

export const rbacGroup = 'rbac.authorization.k8s.io'
export const autoupdateAnnotation = 'rbac.authorization.kubernetes.io/autoupdate'

/** Labels and annotations of everything that Kubernetes ships. */
const metadata = (name: string, namespace?: string, labels: Record<string, string> = {}) => ({
  name,
  ...(namespace !== undefined && { namespace }),
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { [autoupdateAnnotation]: 'true' },
})

export function clusterRole(name: string, rules: PolicyRule[], labels?: Record<string, string>): ClusterRole {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRole',
    metadata: metadata(name, undefined, labels),
    rules,
  }
}

/** Label that adds a ClusterRole's rules to admin, edit or view. */
export const aggregateTo = (role: 'admin' | 'edit' | 'view') => ({
  [`${rbacGroup}/aggregate-to-${role}`]: 'true',
})

export function role(namespace: string, name: string, rules: PolicyRule[]): Role {
  return { apiVersion: `${rbacGroup}/v1`, kind: 'Role', metadata: metadata(name, namespace), rules }
}

export const group = (name: string): RbacSubject => ({ kind: 'Group', apiGroup: rbacGroup, name })
export const user = (name: string): RbacSubject => ({ kind: 'User', apiGroup: rbacGroup, name })
export const systemServiceAccount = (name: string): RbacSubject => ({
  kind: 'ServiceAccount',
  name,
  namespace: 'kube-system',
})

export function clusterRoleBinding(
  name: string,
  clusterRoleName: string,
  subjects: RbacSubject[],
): RoleBinding {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: metadata(name),
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: clusterRoleName },
    ...(subjects.length > 0 && { subjects }),
  }
}

export function roleBinding(
  namespace: string,
  name: string,
  roleName: string,
  subjects: RbacSubject[],
): RoleBinding {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: 'RoleBinding',
    metadata: metadata(name, namespace),
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name: roleName },
    subjects,
  }
}

/** A rule for resources; groups, resources and names separated by spaces, `-` standing for the core group. */
export function allow(verbs: string, groups: string, resources: string, resourceNames?: string): PolicyRule {
  return {
    verbs: verbs.split(' '),
    apiGroups: groups.split(' ').map(name => (name === '-' ? '' : name)),
    resources: resources.split(' '),
    ...(resourceNames !== undefined && { resourceNames: resourceNames.split(' ') }),
  }
}

/** A rule for reading paths that are no resources, separated by spaces. */
export function allowPaths(paths: string): PolicyRule {
  return { verbs: ['get'], nonResourceURLs: paths.split(' ') }
}

export const read = 'get list watch'
export const write = 'create delete deletecollection patch update'
export const everyEvent = () => allow('create patch update', '- events.k8s.io', 'events')
