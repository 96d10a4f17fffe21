/** admin, edit and view, which gather their rules from all ClusterRoles with their label. */
import type { ClusterRole } from '../../../kube/types.ts'
import { effectiveRules } from '../authorization/aggregated-rules.ts'
import { aggregateTo, allow, clusterRole, rbacGroup, read, write } from './policy-objects.ts'

const aggregated = (name: 'admin' | 'edit' | 'view', labels?: Record<string, string>): ClusterRole => ({
  ...clusterRole(name, [], labels),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] },
})

const parts: ClusterRole[] = [
  clusterRole(
    'system:aggregate-to-admin',
    [
      allow('create', 'authorization.k8s.io', 'localsubjectaccessreviews'),
      allow(`${write} ${read}`, rbacGroup, 'rolebindings roles'),
    ],
    aggregateTo('admin'),
  ),
  clusterRole(
    'system:aggregate-to-edit',
    [
      allow(read, '-', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      allow('impersonate', '-', 'serviceaccounts'),
      allow(write, '-', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      allow('create', '-', 'pods/eviction'),
      allow(write, '-', 'configmaps events secrets serviceaccounts services services/proxy'),
      allow('create', '-', 'serviceaccounts/token'),
      allow(`${write} ${read}`, 'coordination.k8s.io', 'leases'),
    ],
    aggregateTo('edit'),
  ),
  clusterRole(
    'system:aggregate-to-view',
    [
      allow(read, '-', 'configmaps endpoints pods serviceaccounts services services/status'),
      allow(read, '-', 'bindings events limitranges namespaces/status pods/log pods/status resourcequotas'),
      allow(read, '-', 'namespaces'),
      allow(read, 'discovery.k8s.io', 'endpointslices'),
    ],
    aggregateTo('view'),
  ),
]

const roles: ClusterRole[] = [
  aggregated('admin'),
  aggregated('edit', aggregateTo('admin')),
  aggregated('view', aggregateTo('edit')),
  ...parts,
]

/** With the rules that Kubernetes' aggregation controller would write, so that `kubectl describe` shows them. */
export const userFacingRoles: readonly ClusterRole[] = roles.map(role => ({
  ...role,
  rules: [...effectiveRules(role, roles)],
}))
