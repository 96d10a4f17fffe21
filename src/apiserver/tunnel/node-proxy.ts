import type { ApiResponse } from '../../kube/transport.ts'
import type { Clock } from '../../ports.ts'
import { apiError } from '../wire/api-error.ts'
import { type Ask, isRefused, orDialError, PATIENCE, signalOf } from './ask.ts'
import type { KubeletAddress } from './kubelet-address.ts'
import { kubeletBody } from './kubelet-body.ts'
import { passedHeaders } from './passed-headers.ts'
import type { KubeletLocation } from './pod-location.ts'
import type { TunnelCall } from './tunnels.ts'

const requestHeaders = ['accept', 'accept-encoding', 'content-type', 'range', 'user-agent']
const answerHeaders = ['content-type', 'content-encoding', 'content-range', 'cache-control', 'last-modified']

/** `nodes/proxy`: the kubelet's own answer, whatever it is. Throws ApiError with the texts of kube-apiserver. */
export async function nodeProxy(
  { request, user, path }: TunnelCall,
  location: KubeletLocation,
  { ask, clock }: { ask: Ask; clock: Clock },
): Promise<ApiResponse> {
  const { method, body: sent } = request
  const headers = passedHeaders(request.headers, requestHeaders)
  const asked = await ask({ request, user }, location, {
    method,
    headers,
    ...(sent && { body: sent }),
  }).catch(orDialError(why => apiError.unavailable(`error trying to reach service: ${why}`)))
  if (isRefused(asked)) return asked
  const { response } = asked.answer
  const { statusCode = 0 } = response
  const redirect = response.headers.location
  const seen = redirect && proxiedRedirect(redirect, path.name, location.path)
  const empty = statusCode === 204 || statusCode === 304
  if (empty) response.destroy()
  const limits = { clock, signal: signalOf(request), silence: PATIENCE }
  const body = kubeletBody(response, limits, asked.release)
  return {
    // What is no status of an answer would break the connection to the client.
    status: statusCode >= 200 && statusCode < 600 ? statusCode : 502,
    headers: {
      ...passedHeaders(response.headers, answerHeaders),
      // What a node serves must not act as a page of the API server.
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      ...(seen && { location: seen }),
    },
    body: empty ? new Uint8Array() : body,
  }
}

/** `[https:]NAME[:PORT]`, as a path names a node that is to be proxied to. */
export interface ProxiedNode {
  name: string
  /** undefined: the kubelet's. */
  port?: number
}

/** Throws ApiError 400. */
export function proxiedNode(text: string): ProxiedNode {
  const parts = text.split(':')
  const [name = '', port = ''] = parts.length === 3 ? parts.slice(1) : parts
  const schemeFits = parts.length < 3 || parts[0] === 'https' || parts[0] === ''
  if (parts.length > 3 || !schemeFits || name === '' || !/^\d{0,5}$/.test(port))
    throw apiError.badRequest(`invalid node request ${JSON.stringify(text)}`)
  return port === '' ? { name } : { name, port: Number(port) }
}

/** Kubernetes would proxy to any port of the node; here only the kubelet is reached. Throws ApiError 400. */
export function requireKubeletPort({ port }: ProxiedNode, address: KubeletAddress): void {
  if (port === undefined || port === address.port) return
  throw apiError.badRequest(
    `port ${port} of node "${address.node}" is not its kubelet's, and no other is proxied to`,
  )
}

/**
 * What follows `/proxy` in a request's URL, with its query, still encoded. Throws ApiError 400 for a path that would
 * leave its folder: it could mean one thing here and another to the kubelet.
 */
export function proxiedPath(url: string): string {
  const path = /^\/api\/v1\/nodes\/[^/?]+\/proxy(\/[^?]*)?(\?.*)?$/.exec(url)
  if (!path) throw apiError.badRequest('the path is not that of a node’s proxy')
  const [, rest = '/', query = ''] = path
  let decoded: string
  try {
    decoded = decodeURIComponent(rest)
  } catch {
    throw apiError.badRequest('the path is not valid percent-encoding')
  }
  if (decoded.split('/').some(part => part === '.' || part === '..') || /[\u0000-\u001f\\]/.test(decoded))
    throw apiError.badRequest('the path must not hold ".", ".." or control characters')
  return `${rest}${query}`
}

/** Where a redirect of the kubelet leads, seen through the proxy; undefined: it leads elsewhere and is not passed on. */
export function proxiedRedirect(location: string, node: string, from: string): string | undefined {
  let target: URL
  const base = new URL(`https://kubelet.invalid${from}`)
  try {
    target = new URL(location, base)
  } catch {
    return undefined
  }
  if (target.origin !== base.origin) return undefined
  return `/api/v1/nodes/${encodeURIComponent(node)}/proxy${target.pathname}${target.search}`
}
