import { attestationRules, controllerRules, managerRules, tokenRules } from '../controller/rbac.ts'
import { attestationAccount } from '../kube/rollcall/node-identity.ts'
import type {
  ClusterRole,
  KubeObject,
  Namespace,
  PolicyRule,
  ResourceRef,
  Role,
  RoleBinding,
} from '../kube/types.ts'
import { resources } from '../kube/types.ts'
import { bootstrapGroup } from './bootstrap-token.ts'
import { clusterInfo } from './cluster-info.ts'

/** An object that a fresh cluster must hold, with the collection it belongs to. */
export interface Seed<T extends KubeObject = KubeObject> {
  resource: ResourceRef
  object: T
}

const rbac = 'rbac.authorization.k8s.io'

function namespace(name: string): Seed {
  const object: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  return { resource: resources.namespaces, object }
}

function groupBinding(name: string, role: string, group: string): Seed<RoleBinding> {
  const object: RoleBinding = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'Group', apiGroup: rbac, name: group }],
  }
  return { resource: resources.clusterRoleBindings, object }
}

function clusterRole(name: string, rules: PolicyRule[]): Seed<ClusterRole> {
  const object: ClusterRole = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name }, rules }
  return { resource: resources.clusterRoles, object }
}

/** A Role and the RoleBinding of the same name. */
function namespacedGrant(
  namespace: string,
  name: string,
  rules: PolicyRule[],
  to: { kind: 'User' | 'Group'; name: string },
): Seed<Role | RoleBinding>[] {
  const metadata = { name, namespace }
  const apiVersion = `${rbac}/v1`
  const role: Role = { apiVersion, kind: 'Role', metadata, rules }
  const binding: RoleBinding = {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbac, kind: 'Role', name },
    subjects: [{ ...to, apiGroup: rbac }],
  }
  return [
    { resource: resources.roles, object: role },
    { resource: resources.roleBindings, object: binding },
  ]
}

const csrRole = 'system:certificates.k8s.io:certificatesigningrequests'

/** The namespaces that Kubernetes makes itself. */
export const seedNamespaces: readonly Seed[] = [
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
].map(namespace)

/**
 * Rights of the controllers in this process: no more than src/controller/rbac.ts names; and of the API server at kubelets.
 * Brought up to date at each start, since a new version may need more.
 */
const controllersSeeds = [
  clusterRole('rollcall:controllers', [...controllerRules, ...managerRules]),
  groupBinding('rollcall:controllers', 'rollcall:controllers', 'rollcall:controllers'),
  groupBinding('rollcall:kubelet-clients', 'system:kubelet-api-admin', 'rollcall:kubelet-clients'),
  // A Prometheus beside this API scrapes nodes and API with this one identity (deploy/prometheus): figures, nothing else.
  groupBinding('rollcall:kubelet-clients:monitoring', 'system:monitoring', 'rollcall:kubelet-clients'),
  ...namespacedGrant('kube-system', 'rollcall:tokens', tokenRules, {
    kind: 'Group',
    name: 'rollcall:controllers',
  }),
  ...namespacedGrant('kube-system', 'rollcall:attestation', attestationRules, {
    kind: 'Group',
    name: 'rollcall:controllers',
  }),
]
export const controllersPolicy = controllersSeeds.map(({ object }) => object)

/** The bindings that kubeadm makes under the names that it gives them. */
export function kubeadmBindings(): Seed[] {
  return [
    groupBinding('kubeadm:cluster-admins', 'cluster-admin', 'kubeadm:cluster-admins'),
    groupBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', bootstrapGroup),
    groupBinding('kubeadm:node-autoapprove-bootstrap', `${csrRole}:nodeclient`, bootstrapGroup),
    groupBinding(
      'kubeadm:node-autoapprove-certificate-rotation',
      `${csrRole}:selfnodeclient`,
      'system:nodes',
    ),
    clusterRole('kubeadm:get-nodes', [{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }]),
    groupBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrapGroup),
    // What agents take CAs from; that it is good, the pinned trust roots say.
    clusterRole('rollcall:trust-bundles', [
      { verbs: ['get'], apiGroups: ['rollcall.dev'], resources: ['trustbundles'] },
    ]),
    groupBinding('rollcall:trust-bundles', 'rollcall:trust-bundles', 'system:nodes'),
    ...namespacedGrant(
      'kube-public',
      'kubeadm:bootstrap-signer-clusterinfo',
      [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'] }],
      { kind: 'User', name: 'system:anonymous' },
    ),
  ]
}

/**
 * Whose tokens machines get that have proven themselves. It may make and read requests, no more: nothing is ever approved
 * because of a role that it has.
 */
export function attestationSeeds(): Seed[] {
  const account: KubeObject = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...attestationAccount },
  }
  const { object } = groupBinding('rollcall:attested-machines', 'system:node-bootstrapper', '')
  const binding = { ...object, subjects: [{ kind: 'ServiceAccount' as const, ...attestationAccount }] }
  return [
    { resource: resources.serviceAccounts, object: account },
    { resource: resources.clusterRoleBindings, object: binding },
  ]
}

/** All of it, for a cluster that is made in memory. */
export function seedObjects(clusterInfoKubeconfig: string): Seed[] {
  const info = { resource: resources.configMaps, object: clusterInfo(clusterInfoKubeconfig) }
  return [...kubeadmBindings(), ...controllersSeeds, ...attestationSeeds(), info]
}
