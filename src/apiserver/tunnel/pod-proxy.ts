/**
 * pods/proxy and services/proxy. Where kube-apiserver would dial the address of a pod, this one does not: a pod's address
 * is what its node says it is, and nothing at the other end proves anything (ADR 17). So the answer is always that of a
 * pod without an address, or of a service without endpoints.
 */
import type { ObjectReader } from '../reader.ts'
import { pods } from '../resources/pods.ts'
import { services } from '../resources/services.ts'
import { type ApiError, apiError } from '../wire/api-error.ts'
import type { TunnelCall } from './tunnels.ts'

interface Service {
  spec?: { ports?: { port?: number }[] }
}

/** `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`: Go's SplitSchemeNamePort. undefined: none of them. */
function splitName(text: string): { name: string; port: string } | undefined {
  const parts = text.split(':')
  const [scheme = '', name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme)) return undefined
  return { name, port }
}

/** Why a pod is not proxied to, in kube-apiserver's words. */
export function podProxyRefusal(reader: ObjectReader, { path }: Pick<TunnelCall, 'path'>): ApiError {
  const target = splitName(path.name)
  if (!target) return apiError.badRequest(`invalid pod request ${JSON.stringify(path.name)}`)
  if (!reader.get(pods, target.name, path.namespace)) return apiError.notFound(pods, target.name)
  return apiError.badRequest('address not allowed')
}

/** Why a service is not proxied to, in kube-apiserver's words. */
export function serviceProxyRefusal(reader: ObjectReader, { path }: Pick<TunnelCall, 'path'>): ApiError {
  const target = splitName(path.name)
  if (!target) return apiError.badRequest(`invalid service request ${JSON.stringify(path.name)}`)
  const { name, port } = target
  const service = reader.get(services, name, path.namespace) as Service | undefined
  if (!service) return apiError.notFound(services, name)
  const known = (service.spec?.ports ?? []).some(one => String(one.port) === port)
  if (/^\d+$/.test(port) && !known)
    return apiError.unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  return apiError.unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
}
