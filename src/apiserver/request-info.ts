import { apiError } from './wire/api-error.ts'

/** Which object or collection a path names. Empty strings where the path does not say. */
export interface ResourcePath {
  group: string
  version: string
  plural: string
  subresource: string
  namespace: string
  name: string
}

/** What a request asks for, before anybody looked whether it exists: Kubernetes' RequestInfo. */
export interface RequestInfo {
  /** Decoded, without the query. */
  path: string
  query: URLSearchParams
  /** get, list, watch … for resources; the lower-case method for other paths. */
  verb: string
  /** Absent for paths that are no resource, e.g. `/healthz`. */
  resource?: ResourcePath
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** `/namespaces/NAME/status` is the namespace's own; `/namespaces/NAME/pods` is a collection in it. */
const namespaceSubresources = ['status', 'finalize']

/** Go's conversion of a query parameter to bool: there and neither `false` nor `0`. */
export function flag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** Throws ApiError 400 for a path that is not valid percent-encoding. */
export function requestInfo(method: string, url: string): RequestInfo {
  const question = url.indexOf('?')
  const path = decode(question < 0 ? url : url.slice(0, question))
  const query = new URLSearchParams(question < 0 ? '' : url.slice(question + 1))
  const resource = resourcePath(path)
  if (!resource) return { path, query, verb: method.toLowerCase() }
  return { path, query, verb: verbOf(method, resource, query), resource }
}

function decode(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    throw apiError.badRequest('the path is not valid percent-encoding')
  }
}

function resourcePath(path: string): ResourcePath | undefined {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/')
  const prefix = parts.shift()
  if (prefix !== 'api' && prefix !== 'apis') return undefined
  const group = prefix === 'apis' ? parts.shift() : ''
  const version = parts.shift()
  if (group === undefined || version === undefined || parts.length === 0) return undefined
  let namespace = ''
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] ?? ''
    if (parts.length > 2 && !namespaceSubresources.includes(parts[2] ?? '')) parts.splice(0, 2)
  }
  const [plural = '', name = '', ...rest] = parts
  // What is behind `proxy` is the node's. Other deeper paths are no resource; they stay visible to authorization.
  const subresource = rest[0] === 'proxy' ? 'proxy' : rest.join('/')
  return { group, version, plural, subresource, namespace, name }
}

function verbOf(method: string, resource: ResourcePath, query: URLSearchParams): string {
  const verb = verbs[method] ?? method.toLowerCase()
  if (resource.name) return verb
  if (verb === 'get') return flag(query, 'watch') ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}
