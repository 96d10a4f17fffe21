/** What a Service is here, and how kubectl shows its parts. */
import type { KubeObject } from '../../kube/types.ts'

export interface ServicePort {
  name?: string
  protocol?: string
  port?: number
  targetPort?: number | string
  nodePort?: number
}

export interface Service extends KubeObject {
  spec?: {
    type?: string
    clusterIP?: string
    clusterIPs?: string[]
    externalIPs?: string[]
    externalName?: string
    ipFamilies?: string[]
    ipFamilyPolicy?: string
    ports?: ServicePort[]
    selector?: Record<string, string>
    sessionAffinity?: string
    sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } }
    externalTrafficPolicy?: string
    internalTrafficPolicy?: string
    allocateLoadBalancerNodePorts?: boolean
  }
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } }
}

const none = '<none>'

/** `10.96.0.1`, `None` for a headless service, `<none>` where there is none. */
export function clusterIp({ spec }: Service): string {
  return spec?.clusterIPs?.[0] || spec?.clusterIP || none
}

export function externalIp({ spec = {}, status }: Service): string {
  const own = spec.externalIPs ?? []
  if (spec.type === 'ExternalName') return spec.externalName ?? none
  if (spec.type !== 'LoadBalancer') return own.join(',') || none
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [...ingress.filter(Boolean), ...own].join(',') || '<pending>'
}

/** `80:30080/TCP,443/TCP`. */
export function portList(ports: readonly ServicePort[] = []): string {
  const texts = ports.map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  )
  return texts.join(',') || none
}

export function selectorText(selector: Record<string, string> = {}): string {
  const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`)
  return pairs.sort().join(',') || none
}
