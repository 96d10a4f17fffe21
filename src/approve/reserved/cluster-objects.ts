/** The objects whose addresses belong to the cluster itself. */
import type { KubeObject, ResourceRef } from '../../kube/types.ts'

export interface Service extends KubeObject {
  spec?: {
    clusterIP?: string
    clusterIPs?: string[]
    externalIPs?: string[]
    loadBalancerIP?: string
  }
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } }
}

export interface EndpointSlice extends KubeObject {
  endpoints?: { addresses?: string[] }[]
}

/** Since Kubernetes 1.33. */
export interface ServiceCidr extends KubeObject {
  spec?: { cidrs?: string[] }
}

const namespaced = (group: string, plural: string, kind: string): ResourceRef => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: true,
})

export const services = namespaced('', 'services', 'Service')
export const endpointSlices = namespaced('discovery.k8s.io', 'endpointslices', 'EndpointSlice')
export const serviceCidrs = {
  ...namespaced('networking.k8s.io', 'servicecidrs', 'ServiceCIDR'),
  namespaced: false,
}
