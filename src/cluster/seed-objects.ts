import type {
  ClusterRole,
  ConfigMap,
  KubeObject,
  Namespace,
  ResourceRef,
  Role,
  RoleBinding,
} from '../kube/types.ts'
import { resources } from '../kube/types.ts'
import { bootstrapGroup } from './bootstrap-token.ts'

/** An object that a fresh cluster must hold, with the collection it belongs to. */
export interface Seed {
  resource: ResourceRef
  object: KubeObject
}

const rbac = 'rbac.authorization.k8s.io'

function namespace(name: string): Seed {
  const object: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  return { resource: resources.namespaces, object }
}

function groupBinding(name: string, role: string, group: string): Seed {
  const object: RoleBinding = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'Group', apiGroup: rbac, name: group }],
  }
  return { resource: resources.clusterRoleBindings, object }
}

const getNodes: ClusterRole = {
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: 'kubeadm:get-nodes' },
  rules: [{ verbs: ['get'], apiGroups: [''], resources: ['nodes'] }],
}

const readClusterInfo: Role = {
  apiVersion: `${rbac}/v1`,
  kind: 'Role',
  metadata: { name: 'kubeadm:bootstrap-signer-clusterinfo', namespace: 'kube-public' },
  rules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'] }],
}

const readClusterInfoBinding: RoleBinding = {
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'kubeadm:bootstrap-signer-clusterinfo', namespace: 'kube-public' },
  roleRef: { apiGroup: rbac, kind: 'Role', name: 'kubeadm:bootstrap-signer-clusterinfo' },
  subjects: [{ kind: 'User', apiGroup: rbac, name: 'system:anonymous' }],
}

const csrRole = 'system:certificates.k8s.io:certificatesigningrequests'

/** Namespaces, and the bindings that kubeadm makes under the names that it gives them. */
export function seedObjects(clusterInfoKubeconfig: string): Seed[] {
  const clusterInfo: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info', namespace: 'kube-public' },
    data: { kubeconfig: clusterInfoKubeconfig },
  }
  return [
    ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map(namespace),
    groupBinding('kubeadm:cluster-admins', 'cluster-admin', 'kubeadm:cluster-admins'),
    groupBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', bootstrapGroup),
    groupBinding('kubeadm:node-autoapprove-bootstrap', `${csrRole}:nodeclient`, bootstrapGroup),
    groupBinding(
      'kubeadm:node-autoapprove-certificate-rotation',
      `${csrRole}:selfnodeclient`,
      'system:nodes',
    ),
    { resource: resources.clusterRoles, object: getNodes },
    groupBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrapGroup),
    { resource: resources.roles, object: readClusterInfo },
    { resource: resources.roleBindings, object: readClusterInfoBinding },
    { resource: resources.configMaps, object: clusterInfo },
  ]
}
