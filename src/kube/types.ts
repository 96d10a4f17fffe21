/**
 * The Kubernetes objects that Rollcall reads and writes. Only the fields we use are named; an object read from a
 * server keeps the others at run time, so read-modify-write never drops a field (kubernetes-types makes every field
 * optional and metadata too, which would put `?.` on each line).
 */

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ObjectMeta {
  name: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  /** RFC 3339, whole seconds. */
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
}

export interface KubeObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

export interface KubeList<T extends KubeObject = KubeObject> {
  apiVersion: string
  kind: string
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** metav1.Status: what the API answers when it has no object to give. */
export interface Status {
  apiVersion: 'v1'
  kind: 'Status'
  metadata: Record<string, unknown>
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: {
    name?: string
    group?: string
    kind?: string
    uid?: string
    causes?: { reason?: string; message?: string; field?: string }[]
    retryAfterSeconds?: number
  }
  code: number
}

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: WatchEventType
  object: T
}

/** Which collection: group '' is the core group. */
export interface ResourceRef {
  group: string
  version: string
  plural: string
  kind: string
  namespaced: boolean
}

export interface UserInfo {
  username: string
  uid?: string
  groups: string[]
  extra?: Record<string, string[]>
}

export interface CsrCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastUpdateTime?: string
  lastTransitionTime?: string
}

export interface CertificateSigningRequest extends KubeObject {
  spec: {
    /** base64 of a PEM block CERTIFICATE REQUEST. */
    request: string
    signerName: string
    usages: string[]
    /** Seconds, at least 600. */
    expirationSeconds?: number
    username?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
  }
  status?: {
    conditions?: CsrCondition[]
    /** base64 of PEM. */
    certificate?: string
  }
}

export interface NodeAddress {
  type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS' | (string & {})
  address: string
}

export interface NodeCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
  lastHeartbeatTime?: string
  lastTransitionTime?: string
}

export interface KubeNode extends KubeObject {
  spec?: { podCIDR?: string; podCIDRs?: string[]; providerID?: string; unschedulable?: boolean }
  status?: {
    addresses?: NodeAddress[]
    conditions?: NodeCondition[]
    daemonEndpoints?: { kubeletEndpoint?: { Port: number } }
    nodeInfo?: Record<string, string>
  }
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    /** RFC 3339 with exactly six digits of fraction (MicroTime). */
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>
  binaryData?: Record<string, string>
  immutable?: boolean
}

export interface Secret extends KubeObject {
  type?: string
  /** Values are base64. */
  data?: Record<string, string>
  stringData?: Record<string, string>
}

export interface Namespace extends KubeObject {
  status?: { phase?: 'Active' | 'Terminating' }
}

export interface KubeEvent extends KubeObject {
  involvedObject: { apiVersion?: string; kind?: string; name?: string; namespace?: string; uid?: string }
  reason?: string
  message?: string
  type?: 'Normal' | 'Warning'
  count?: number
  firstTimestamp?: string
  lastTimestamp?: string
  source?: { component?: string; host?: string }
}

export interface PolicyRule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

export interface Role extends KubeObject {
  rules?: PolicyRule[]
}
export interface ClusterRole extends Role {
  aggregationRule?: { clusterRoleSelectors?: { matchLabels?: Record<string, string> }[] }
}
export interface RbacSubject {
  kind: 'User' | 'Group' | 'ServiceAccount'
  apiGroup?: string
  name: string
  namespace?: string
}
export interface RoleBinding extends KubeObject {
  subjects?: RbacSubject[]
  roleRef: { apiGroup: string; kind: 'Role' | 'ClusterRole'; name: string }
}

export interface SubjectAccessReview extends KubeObject {
  spec: {
    user?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
    resourceAttributes?: {
      namespace?: string
      verb?: string
      group?: string
      version?: string
      resource?: string
      subresource?: string
      name?: string
    }
    nonResourceAttributes?: { path?: string; verb?: string }
  }
  status?: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string }
}

const core = (plural: string, kind: string, namespaced: boolean): ResourceRef => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
})
const inGroup = (
  group: string,
  plural: string,
  kind: string,
  namespaced: boolean,
  version = 'v1',
): ResourceRef => ({
  group,
  version,
  plural,
  kind,
  namespaced,
})

/** The collections Rollcall itself works with. */
export const resources = {
  namespaces: core('namespaces', 'Namespace', false),
  nodes: core('nodes', 'Node', false),
  configMaps: core('configmaps', 'ConfigMap', true),
  secrets: core('secrets', 'Secret', true),
  events: core('events', 'Event', true),
  serviceAccounts: core('serviceaccounts', 'ServiceAccount', true),
  pods: core('pods', 'Pod', true),
  services: core('services', 'Service', true),
  endpoints: core('endpoints', 'Endpoints', true),
  endpointSlices: inGroup('discovery.k8s.io', 'endpointslices', 'EndpointSlice', true),
  csiDrivers: inGroup('storage.k8s.io', 'csidrivers', 'CSIDriver', false),
  runtimeClasses: inGroup('node.k8s.io', 'runtimeclasses', 'RuntimeClass', false),
  resourceSlices: inGroup('resource.k8s.io', 'resourceslices', 'ResourceSlice', false),
  leases: inGroup('coordination.k8s.io', 'leases', 'Lease', true),
  certificateSigningRequests: inGroup(
    'certificates.k8s.io',
    'certificatesigningrequests',
    'CertificateSigningRequest',
    false,
  ),
  clusterTrustBundles: inGroup(
    'certificates.k8s.io',
    'clustertrustbundles',
    'ClusterTrustBundle',
    false,
    'v1beta1',
  ),
  clusterRoles: inGroup('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole', false),
  clusterRoleBindings: inGroup(
    'rbac.authorization.k8s.io',
    'clusterrolebindings',
    'ClusterRoleBinding',
    false,
  ),
  roles: inGroup('rbac.authorization.k8s.io', 'roles', 'Role', true),
  roleBindings: inGroup('rbac.authorization.k8s.io', 'rolebindings', 'RoleBinding', true),
  subjectAccessReviews: inGroup('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', false),
  selfSubjectAccessReviews: inGroup(
    'authorization.k8s.io',
    'selfsubjectaccessreviews',
    'SelfSubjectAccessReview',
    false,
  ),
  tokenReviews: inGroup('authentication.k8s.io', 'tokenreviews', 'TokenReview', false),
} as const satisfies Record<string, ResourceRef>

/** signerName values that Kubernetes itself defines. */
export const signerNames = {
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  apiserverClient: 'kubernetes.io/kube-apiserver-client',
  legacyUnknown: 'kubernetes.io/legacy-unknown',
} as const
