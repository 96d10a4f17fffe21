import type { KubeObject } from '../../../kube/types.ts'
import type { AdmissionRequest } from '../access.ts'

const groups: Readonly<Record<string, string>> = {
  leases: 'coordination.k8s.io',
  csinodes: 'storage.k8s.io',
  certificatesigningrequests: 'certificates.k8s.io',
  clustertrustbundles: 'certificates.k8s.io',
  resourceslices: 'resource.k8s.io',
  clusterroles: 'rbac.authorization.k8s.io',
  clusterrolebindings: 'rbac.authorization.k8s.io',
  roles: 'rbac.authorization.k8s.io',
  rolebindings: 'rbac.authorization.k8s.io',
}

/** A write of `resource` as the handler describes it; name and namespace are the object's unless given. */
export function admissionRequest(
  operation: AdmissionRequest['operation'],
  resource: string,
  rest: Pick<AdmissionRequest, 'user'> & Partial<AdmissionRequest>,
): AdmissionRequest {
  const metadata: Partial<KubeObject['metadata']> = (rest.object ?? rest.oldObject)?.metadata ?? {}
  return {
    operation,
    group: groups[resource] ?? '',
    version: 'v1',
    resource,
    subresource: '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    ...rest,
  }
}
