import { apiError } from '../wire/api-error.ts'
import type { KubeletAddress } from './kubelet-address.ts'

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
