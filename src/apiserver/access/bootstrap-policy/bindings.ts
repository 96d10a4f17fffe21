/** Kubernetes' bindings, and its roles in single namespaces (A-41). */
import type { Role, RoleBinding } from '../../../kube/types.ts'
import { systemGroups } from '../system-identities.ts'
import {
  allow,
  clusterRoleBinding,
  everyEvent,
  group,
  read,
  role,
  roleBinding,
  systemServiceAccount,
  user,
} from './policy-objects.ts'

const everybody = [group(systemGroups.authenticated), group(systemGroups.unauthenticated)]
const leaderLocking = 'system::leader-locking-'
const components = ['kube-controller-manager', 'kube-scheduler']

/** A controller of kube-controller-manager and the role of its ServiceAccount. */
const controller = (name: string) =>
  clusterRoleBinding(`system:controller:${name}`, `system:controller:${name}`, [systemServiceAccount(name)])

export const clusterRoleBindings: readonly RoleBinding[] = [
  clusterRoleBinding('cluster-admin', 'cluster-admin', [group(systemGroups.masters)]),
  clusterRoleBinding('system:basic-user', 'system:basic-user', [group(systemGroups.authenticated)]),
  clusterRoleBinding('system:discovery', 'system:discovery', [group(systemGroups.authenticated)]),
  clusterRoleBinding('system:public-info-viewer', 'system:public-info-viewer', everybody),
  clusterRoleBinding('system:monitoring', 'system:monitoring', [group('system:monitoring')]),
  ...['service-account-issuer-discovery', 'cluster-trust-bundle-discovery'].map(name =>
    clusterRoleBinding(`system:${name}`, `system:${name}`, [group(systemGroups.serviceAccounts)]),
  ),
  // The Node authorizer does its work, so it is bound to nobody.
  clusterRoleBinding('system:node', 'system:node', []),
  ...components.map(name => clusterRoleBinding(`system:${name}`, `system:${name}`, [user(`system:${name}`)])),
  ...['certificate-controller', 'root-ca-cert-publisher', 'clusterrole-aggregation-controller'].map(
    controller,
  ),
]

export const roles: readonly Role[] = [
  role('kube-public', 'system:controller:bootstrap-signer', [
    allow(read, '-', 'configmaps'),
    allow('update', '-', 'configmaps', 'cluster-info'),
    everyEvent(),
  ]),
  role('kube-system', 'extension-apiserver-authentication-reader', [
    allow(read, '-', 'configmaps', 'extension-apiserver-authentication'),
  ]),
  ...components.map(name =>
    role('kube-system', `${leaderLocking}${name}`, [
      allow('create get list update watch', 'coordination.k8s.io', 'leases'),
    ]),
  ),
  role('kube-system', 'system:controller:bootstrap-signer', [allow(read, '-', 'secrets')]),
  role('kube-system', 'system:controller:token-cleaner', [
    allow(`delete ${read}`, '-', 'secrets'),
    everyEvent(),
  ]),
]

const reader = 'extension-apiserver-authentication-reader'

export const roleBindings: readonly RoleBinding[] = [
  roleBinding('kube-public', 'system:controller:bootstrap-signer', 'system:controller:bootstrap-signer', [
    systemServiceAccount('bootstrap-signer'),
  ]),
  roleBinding(
    'kube-system',
    `system::${reader}`,
    reader,
    components.map(name => user(`system:${name}`)),
  ),
  ...components.map(name =>
    roleBinding('kube-system', `${leaderLocking}${name}`, `${leaderLocking}${name}`, [
      user(`system:${name}`),
      systemServiceAccount(name),
    ]),
  ),
  ...['bootstrap-signer', 'token-cleaner'].map(name =>
    roleBinding('kube-system', `system:controller:${name}`, `system:controller:${name}`, [
      systemServiceAccount(name),
    ]),
  ),
]
