/**
 * Cluster addresses and node ports of Services. The place to look first comes from the service's uid, so that two
 * services created at the same moment do not take the same one.
 */
import { resources } from '../../kube/types.ts'
import { apiError } from '../wire/api-error.ts'
import { fieldError } from '../wire/field-error.ts'
import type { Service } from './service-columns.ts'

/** kubeadm's default, 10.96.0.0/12; the lowest 256 addresses are left to those who name theirs. */
const range = { first: 0x0a60_0000, size: 2 ** 20, reserved: 256 }
const nodePorts = { first: 30_000, size: 2768, reserved: 86 }

const dotted = (address: number) => [24, 16, 8, 0].map(shift => (address >>> shift) & 255).join('.')

/** The first value at or after the uid's own place that nobody has; undefined when all are taken. */
function firstFree(
  uid: string,
  { first, size, reserved }: typeof range,
  taken: (value: number) => boolean,
): number | undefined {
  const dynamic = size - reserved
  const start = Number.parseInt(uid.replaceAll('-', '').slice(-12) || '0', 16) % dynamic
  for (let step = 0; step < dynamic; step++) {
    const value = first + reserved + ((start + step) % dynamic)
    if (!taken(value)) return value
  }
  return undefined
}

const sameService = (left: Service, right: Service) =>
  left.metadata.name === right.metadata.name && left.metadata.namespace === right.metadata.namespace

/**
 * Fills in clusterIP, clusterIPs, the address family and node ports where the type has them. Changes `service`. Throws
 * ApiError 422 when the address it asks for belongs to another service.
 */
export function allocateAddresses(service: Service, all: readonly Service[]): void {
  const { spec } = service
  if (!spec || spec.type === 'ExternalName') return
  const others = all.filter(other => !sameService(other, service))
  const uid = service.metadata.uid ?? ''
  spec.clusterIP ||= spec.clusterIPs?.[0] ?? ''
  const addresses = new Set(others.map(other => other.spec?.clusterIP))
  if (spec.clusterIP !== '' && spec.clusterIP !== 'None' && addresses.has(spec.clusterIP)) {
    const text = `failed to allocate IP ${spec.clusterIP}: provided IP is already allocated`
    const error = fieldError.invalid('spec.clusterIPs', [spec.clusterIP], text)
    throw apiError.invalid(resources.services, service.metadata.name, [error])
  }
  if (spec.clusterIP === '') {
    const free = firstFree(uid, range, value => addresses.has(dotted(value)))
    if (free !== undefined) spec.clusterIP = dotted(free)
  }
  if (!spec.clusterIPs?.length && spec.clusterIP) spec.clusterIPs = [spec.clusterIP]
  spec.ipFamilies ??= [spec.clusterIP.includes(':') ? 'IPv6' : 'IPv4']
  spec.ipFamilyPolicy ||= 'SingleStack'
  if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') allocateNodePorts(service, others)
}

function allocateNodePorts({ metadata, spec }: Service, others: readonly Service[]): void {
  const used = new Set(others.flatMap(other => other.spec?.ports ?? []).map(({ nodePort }) => nodePort))
  for (const port of spec?.ports ?? []) {
    port.nodePort ||= firstFree(metadata.uid ?? '', nodePorts, value => used.has(value)) ?? 0
    used.add(port.nodePort)
  }
}
