import {
  type ClusterRole,
  type PolicyRule,
  type RbacSubject,
  type Role,
  type RoleBinding,
  resources,
  type UserInfo,
} from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import { quoted } from '../go-quote.ts'
import { serviceAccountUserName } from '../system-identities.ts'
import { effectiveRules } from './aggregated-rules.ts'

/** What one binding gives one subject. */
export interface Grant {
  rules: readonly PolicyRule[]
  /** Kubernetes' words for it, e.g. `ClusterRoleBinding "b" of ClusterRole "r" to Group "g"`. */
  description: string
  /** Why the role cannot be read; then there are no rules. */
  error?: string
}

/** Grants by subject: `u` and a user name, or `g` and a group. */
type GrantsBySubject = Map<string, Grant[]>

export interface RbacIndex {
  everywhere: GrantsBySubject
  inNamespace: Map<string, GrantsBySubject>
}

/** Rules of a role that a binding names, or why there are none. `namespace` is the binding's, '' for a ClusterRoleBinding. */
export type RoleLookup = (
  roleRef: RoleBinding['roleRef'],
  namespace: string,
) => { rules: readonly PolicyRule[] } | { error: string }

/** Reads all roles once; names are looked up in the result. */
export function roleLookup(reader: ObjectReader): RoleLookup {
  const clusterRoles = reader.list<ClusterRole>(resources.clusterRoles)
  const ofClusterRole = new Map(
    clusterRoles.map(role => [role.metadata.name, effectiveRules(role, clusterRoles)] as const),
  )
  const ofRole = new Map(
    reader
      .list<Role>(resources.roles)
      .map(({ metadata, rules = [] }) => [`${metadata.namespace}/${metadata.name}`, rules] as const),
  )
  return ({ kind, name }, namespace) => {
    if (kind !== 'Role' && kind !== 'ClusterRole') {
      return { error: `unsupported role reference kind: ${quoted(kind)}` }
    }
    const rules = kind === 'Role' ? ofRole.get(`${namespace}/${name}`) : ofClusterRole.get(name)
    if (rules) return { rules }
    return { error: `${kind.toLowerCase()}.rbac.authorization.k8s.io ${quoted(name)} not found` }
  }
}

function subjectKey(subject: RbacSubject, namespace: string): string | undefined {
  if (subject.kind === 'User') return `u${subject.name}`
  if (subject.kind === 'Group') return `g${subject.name}`
  const home = subject.namespace || namespace
  if (subject.kind !== 'ServiceAccount' || home === '') return undefined
  return `u${serviceAccountUserName(home, subject.name)}`
}

/** Kubernetes writes name before namespace in these descriptions. */
function describe(binding: RoleBinding, subject: RbacSubject, namespace: string): string {
  const { kind, name } = binding.roleRef
  const own = namespace === '' ? binding.metadata.name : `${binding.metadata.name}/${namespace}`
  const whom =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name
  const type = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  return `${type} ${quoted(own)} of ${kind} ${quoted(name)} to ${subject.kind} ${quoted(whom)}`
}

function addBinding(
  into: GrantsBySubject,
  binding: RoleBinding,
  namespace: string,
  lookup: RoleLookup,
): void {
  const role = lookup(binding.roleRef, namespace)
  for (const subject of binding.subjects ?? []) {
    const key = subjectKey(subject, namespace)
    if (key === undefined) continue
    const description = describe(binding, subject, namespace)
    const grant = 'error' in role ? { rules: [], description, error: role.error } : { ...role, description }
    const grants = into.get(key)
    if (grants) grants.push(grant)
    else into.set(key, [grant])
  }
}

export function buildRbacIndex(reader: ObjectReader): RbacIndex {
  const lookup = roleLookup(reader)
  const index: RbacIndex = { everywhere: new Map(), inNamespace: new Map() }
  for (const binding of reader.list<RoleBinding>(resources.clusterRoleBindings)) {
    addBinding(index.everywhere, binding, '', lookup)
  }
  for (const binding of reader.list<RoleBinding>(resources.roleBindings)) {
    const namespace = binding.metadata.namespace ?? ''
    const grants = index.inNamespace.get(namespace) ?? new Map()
    index.inNamespace.set(namespace, grants)
    addBinding(grants, binding, namespace, lookup)
  }
  return index
}

function visitIn(grants: GrantsBySubject, user: UserInfo, visit: (grant: Grant) => boolean): boolean {
  if (grants.get(`u${user.username}`)?.some(visit)) return true
  return user.groups.some(group => grants.get(`g${group}`)?.some(visit) ?? false)
}

/** Calls `visit` for each grant of the user, cluster-wide ones first, until it returns true; whether it did. */
export function visitGrants(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
  visit: (grant: Grant) => boolean,
): boolean {
  if (visitIn(index.everywhere, user, visit)) return true
  const local = namespace === '' ? undefined : index.inNamespace.get(namespace)
  return local !== undefined && visitIn(local, user, visit)
}
