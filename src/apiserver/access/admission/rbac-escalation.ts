/**
 * RBAC's escalation checks: nobody grants what he does not hold, unless he may `escalate` the role or `bind` to it.
 * Kubernetes makes them in the storage of the four kinds, before validating admission.
 */
import type { ClusterRole, PolicyRule, Role, RoleBinding } from '../../../kube/types.ts'
import { resources } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import { apiError } from '../../wire/api-error.ts'
import type { AdmissionRequest } from '../access.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { roleLookup } from '../authorization/rbac-index.ts'
import { quoted, quotedList } from '../go-quote.ts'
import { systemGroups } from '../system-identities.ts'
import { refuse } from './refuse.ts'
import { compactRules, uncovered } from './rule-covers.ts'
import { semanticallyEqual } from './semantically-equal.ts'

const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** Throws ApiError 403 for a write of a role or binding that grants more than the user holds, 404 for a missing role. */
export function guardEscalation(
  request: AdmissionRequest,
  authorizer: Authorizer,
  reader: ObjectReader,
): void {
  if (request.group !== 'rbac.authorization.k8s.io' || request.operation === 'DELETE') return
  if (request.user.groups.includes(systemGroups.masters) || changesOwnershipOnly(request)) return
  if (request.resource === 'roles' || request.resource === 'clusterroles') guardRole(request, authorizer)
  if (request.resource === 'rolebindings' || request.resource === 'clusterrolebindings') {
    guardBinding(request, authorizer, reader)
  }
}

/** The garbage collector must be able to remove finalizers and owners of what it could not grant. */
function changesOwnershipOnly({ operation, object, oldObject }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE' || !object || !oldObject) return false
  const without = ({ metadata, ...rest }: object & { metadata: object }) => ({
    ...rest,
    metadata: { ...metadata, ownerReferences: [], finalizers: [], managedFields: [], resourceVersion: '' },
  })
  return semanticallyEqual(without(object), without(oldObject))
}

function guardRole(request: AdmissionRequest, authorizer: Authorizer): void {
  const { user, group, resource, namespace } = request
  // As in Kubernetes the right to escalate a new role cannot be limited to its name: a create request has none.
  const name = request.operation === 'CREATE' ? '' : request.name
  const escalate = { user, verb: 'escalate', group, version: '*', resource, namespace, name }
  if (authorizer.authorize(escalate).allowed) return
  const role = request.object as Role
  const complaint = notHeld(request, authorizer, role.rules ?? [])
  if (complaint) throw refuse(request, complaint)
  // An aggregation rule gathers rules that nobody has written yet, so it needs everything.
  const aggregates = [request.object, request.oldObject].some(
    object => ((object as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0,
  )
  if (aggregates && notHeld(request, authorizer, fullAuthority)) {
    throw refuse(request, 'must have cluster-admin privileges to use the aggregationRule')
  }
}

function guardBinding(request: AdmissionRequest, authorizer: Authorizer, reader: ObjectReader): void {
  const { user } = request
  const namespace = request.resource === 'rolebindings' ? request.namespace : ''
  const roleRef = (request.object as Partial<RoleBinding> | undefined)?.roleRef
  if (!roleRef) return // nothing is granted, and validation refuses it
  const role = roleRef.kind === 'Role' ? resources.roles : resources.clusterRoles
  const bind = {
    user,
    verb: 'bind',
    group: roleRef.apiGroup ?? '',
    version: '*',
    resource: role.plural,
    namespace,
    name: roleRef.name,
  }
  if (authorizer.authorize(bind).allowed) return
  const found = roleLookup(reader)(roleRef, namespace)
  if ('error' in found) throw apiError.notFound(role, roleRef.name)
  const complaint = notHeld(request, authorizer, found.rules)
  if (complaint) throw refuse(request, complaint)
}

function describe(rule: PolicyRule): string {
  const fields: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const shown = fields.flatMap(([name, values]) => (values?.length ? [`${name}:${quotedList(values)}`] : []))
  return `{${shown.join(', ')}}`
}

/** Kubernetes' sentence about the rights that the user lacks for `wanted`, or undefined where he holds all. */
function notHeld(
  { user, namespace }: AdmissionRequest,
  authorizer: Authorizer,
  wanted: readonly PolicyRule[],
): string | undefined {
  const { rules, errors } = authorizer.rbacRulesFor(user, namespace)
  const missing = uncovered(rules, wanted)
  if (missing.length === 0) return undefined
  const lines = [...new Set(compactRules(missing).map(describe))].sort()
  const unresolved = errors.length > 0 ? `; resolution errors: [${errors.join(', ')}]` : ''
  return (
    `user ${quoted(user.username)} (groups=${quotedList(user.groups)}) ` +
    `is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${unresolved}`
  )
}
