/** The roles and bindings that Kubernetes ships, as plain data, and how a stored set is brought up to them. */
import { clusterRoleBindings, roleBindings, roles } from './bootstrap-policy/bindings.ts'
import { clusterRoles } from './bootstrap-policy/cluster-roles.ts'
import type { PolicyObject } from './bootstrap-policy/policy-objects.ts'
import { completingWrites, type PolicyWrite } from './bootstrap-policy/reconcile.ts'
import { userFacingRoles } from './bootstrap-policy/user-facing-roles.ts'

/** Fresh copies, roles before the bindings that name them. */
export function bootstrapPolicy(): PolicyObject[] {
  return structuredClone<PolicyObject[]>([
    ...clusterRoles,
    ...userFacingRoles,
    ...clusterRoleBindings,
    ...roles,
    ...roleBindings,
  ])
}

/** What to write at start so that the stored roles and bindings grant at least what Kubernetes' own do. */
export function reconcileBootstrapPolicy(existing: readonly PolicyObject[]): PolicyWrite[] {
  return completingWrites(existing, bootstrapPolicy())
}
