import type { PolicyRule } from '../../../kube/types.ts'

const rule = (group: string, resources: string[], verbs: string[]): PolicyRule => ({
  verbs,
  apiGroups: [group],
  resources,
})
const read = ['get', 'list', 'watch']

/** What every node may do whatever its name; also the rules of ClusterRole system:node, bound to nobody. */
export const nodeRules: readonly PolicyRule[] = [
  rule('authentication.k8s.io', ['tokenreviews'], ['create']),
  rule('authorization.k8s.io', ['localsubjectaccessreviews', 'subjectaccessreviews'], ['create']),
  rule('', ['services'], read),
  rule('', ['nodes'], ['create', ...read]),
  rule('', ['nodes/status'], ['patch', 'update']),
  rule('', ['nodes'], ['patch', 'update']),
  rule('', ['events'], ['create', 'patch', 'update']),
  rule('', ['pods'], read),
  rule('', ['pods'], ['create', 'delete']),
  rule('', ['pods/status'], ['patch', 'update']),
  rule('', ['pods/eviction'], ['create']),
  rule('', ['configmaps', 'secrets'], read),
  rule('', ['endpoints'], ['get']),
  rule('certificates.k8s.io', ['certificatesigningrequests'], ['create', ...read]),
  rule('coordination.k8s.io', ['leases'], ['create', 'delete', 'get', 'patch', 'update']),
  rule('', ['serviceaccounts/token'], ['create']),
  rule('storage.k8s.io', ['csidrivers'], read),
  rule('storage.k8s.io', ['csinodes'], ['create', 'delete', 'get', 'patch', 'update']),
  rule('node.k8s.io', ['runtimeclasses'], read),
  rule('resource.k8s.io', ['resourceslices'], ['deletecollection']),
  rule('certificates.k8s.io', ['clustertrustbundles'], read),
]
