/**
 * A small typed client over a Transport. No caching, no retry: those are the reflector's and the caller's.
 * Every method rejects with RollcallError API_UNREACHABLE (no answer) or ApiStatusError (an answer that is an error), and
 * with USAGE for a name that no object can have, before anything is sent.
 */
import { RollcallError } from '../errors.ts'
import { ApiStatusError, isExpired, statusOf } from './api-status.ts'
import { readJsonLines } from './json-lines.ts'
import { collectionPath, listQuery, objectPath } from './resource-path.ts'
import type { ApiRequest, ApiResponse, Transport } from './transport.ts'
import type { KubeList, KubeObject, ResourceRef, Status, WatchEvent } from './types.ts'

// The door of this room for those who handle its errors.
export { ApiStatusError, continueAfter, isExpired, isNamespaceTerminating, isStatus } from './api-status.ts'

export interface ListOptions {
  /** Empty or absent: all namespaces. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  limit?: number
  continue?: string
  resourceVersion?: string
  resourceVersionMatch?: 'Exact' | 'NotOlderThan'
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  /** Server-side end of the watch, in seconds. */
  timeoutSeconds?: number
  allowBookmarks?: boolean
  signal?: AbortSignal
}

export interface Target {
  name: string
  /** For namespaced resources. */
  namespace?: string
  /** E.g. `status`, `approval`. */
  subresource?: string
}

export type PatchKind = 'json' | 'merge' | 'strategic-merge'

export interface KubeClient {
  get<T extends KubeObject>(resource: ResourceRef, target: Target, signal?: AbortSignal): Promise<T>
  /** One page as the server gives it; `listAll` in client.ts follows `continue`. */
  list<T extends KubeObject>(
    resource: ResourceRef,
    options?: ListOptions,
    signal?: AbortSignal,
  ): Promise<KubeList<T>>
  create<T extends KubeObject>(
    resource: ResourceRef,
    object: T,
    options?: { subresource?: string; signal?: AbortSignal },
  ): Promise<T>
  /** PUT; with `subresource` only that part is taken. */
  update<T extends KubeObject>(
    resource: ResourceRef,
    object: T,
    options?: { subresource?: string; signal?: AbortSignal },
  ): Promise<T>
  patch<T extends KubeObject>(
    resource: ResourceRef,
    target: Target,
    kind: PatchKind,
    patch: unknown,
    signal?: AbortSignal,
  ): Promise<T>
  delete(
    resource: ResourceRef,
    target: Target,
    options?: {
      uid?: string
      resourceVersion?: string
      /** 0: at once; absent: the resource's own. */
      gracePeriodSeconds?: number
      signal?: AbortSignal
    },
  ): Promise<Status | KubeObject>
  /** Ends when the server ends it or the signal aborts; an ERROR event is thrown as ApiStatusError. */
  watch<T extends KubeObject>(resource: ResourceRef, options?: WatchOptions): AsyncIterable<WatchEvent<T>>
  /** GET of any path, e.g. `/readyz`; the body as text, of at most `mostBody` bytes. */
  raw(path: string, signal?: AbortSignal, mostBody?: number): Promise<string>
}

/** The page size client-go's pager asks for. */
export const PAGE_SIZE = 500

/**
 * Lists page by page (500, or `options.limit`) and gives all items with the list's resourceVersion. When the pages'
 * snapshot is compacted meanwhile (410), it lists once more in one piece, as client-go's pager does. `project` is applied
 * to each page as it comes, so that what it drops is never held for the whole list.
 */
export async function listAll<T extends KubeObject>(
  client: KubeClient,
  resource: ResourceRef,
  options: ListOptions = {},
  signal?: AbortSignal,
  project: (item: T) => T = item => item,
): Promise<KubeList<T>> {
  const limit = options.limit ?? PAGE_SIZE
  const first = await client.list<T>(resource, { ...options, limit }, signal)
  const items = first.items.map(project)
  let next = first.metadata.continue
  while (next) {
    try {
      const page = await client.list<T>(resource, { ...options, limit, continue: next }, signal)
      for (const item of page.items) items.push(project(item))
      next = page.metadata.continue
    } catch (error) {
      if (!isExpired(error)) throw error
      const whole = await client.list<T>(resource, { ...options, limit: 0 }, signal)
      return { ...whole, items: whole.items.map(project) }
    }
  }
  const { resourceVersion } = first.metadata
  return { ...first, metadata: resourceVersion === undefined ? {} : { resourceVersion }, items }
}

const patchContentTypes: Record<PatchKind, string> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  'strategic-merge': 'application/strategic-merge-patch+json',
}

/** Bytes of one answer; V8 has no text that is much longer, and no page of a list comes near. */
const MOST_BODY = 256 * 1024 * 1024

interface Content {
  body?: unknown
  contentType?: string
  mostBody?: number
}

/** A client of the API behind `transport`. */
export function createClient(transport: Transport): KubeClient {
  async function send(
    method: string,
    url: string,
    signal?: AbortSignal,
    { body, contentType = 'application/json', mostBody = MOST_BODY }: Content = {},
  ): Promise<ApiResponse> {
    const request: ApiRequest = {
      method,
      url,
      headers: { accept: 'application/json', 'user-agent': 'rollcall' },
      mostBody,
    }
    if (signal) request.signal = signal
    if (transport.values) request.wantsValues = true
    if (body !== undefined) {
      request.headers['content-type'] = contentType
      const whole = method === 'POST' || method === 'PUT'
      if (transport.values && whole && typeof body === 'object' && body !== null) request.value = body
      else request.body = new TextEncoder().encode(JSON.stringify(body))
    }
    const response = await transport.request(request)
    if (response.status >= 200 && response.status < 300) return response
    throw new ApiStatusError(statusOf(response.status, await text(response)), `${method} ${pathOf(url)}`)
  }
  async function sendForObject<T>(...request: Parameters<typeof send>): Promise<T> {
    const response = await send(...request)
    return (response.value as T | undefined) ?? parseObject<T>(await text(response), request[1])
  }

  return {
    async get(resource, target, signal) {
      return sendForObject('GET', objectPath(resource, target), signal)
    },

    async list<T extends KubeObject>(resource: ResourceRef, options: ListOptions = {}, signal?: AbortSignal) {
      const url = collectionPath(resource, options.namespace) + listQuery(options)
      const list = await sendForObject<KubeList<T>>('GET', url, signal)
      // kube-apiserver leaves apiVersion and kind out of the items of a typed list, and null for none of them.
      const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
      list.items = (list.items ?? []).map(item => ({ ...item, apiVersion, kind: resource.kind }))
      return list
    },

    async create(resource, object, options = {}) {
      const { name, namespace } = object.metadata
      const url = options.subresource
        ? objectPath(resource, target(object, options.subresource))
        : collectionPath(resource, namespace)
      if (resource.namespaced && !namespace) throw missingNamespace(resource, name)
      return sendForObject('POST', url, options.signal, { body: object })
    },

    async update(resource, object, options = {}) {
      return sendForObject('PUT', objectPath(resource, target(object, options.subresource)), options.signal, {
        body: object,
      })
    },

    async patch(resource, target, kind, patch, signal) {
      return sendForObject('PATCH', objectPath(resource, target), signal, {
        body: patch,
        contentType: patchContentTypes[kind],
      })
    },

    async delete(resource, target, { uid, resourceVersion, gracePeriodSeconds, signal } = {}) {
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, ...grace }
      return sendForObject('DELETE', objectPath(resource, target), signal, { body })
    },

    async *watch<T extends KubeObject>(resource: ResourceRef, options: WatchOptions = {}) {
      const { signal } = options
      const query = listQuery(options, options.allowBookmarks ? 'bookmarks' : 'plain')
      const url = collectionPath(resource, options.namespace) + query
      try {
        const { body, events } = await send('GET', url, signal)
        const lines = events ? each(events) : readJsonLines(body instanceof Uint8Array ? one(body) : body)
        for await (const value of lines) {
          if (signal?.aborted) return
          const event = value as WatchEvent<T>
          if (event.type === 'ERROR')
            throw new ApiStatusError(statusOf(500, JSON.stringify(event.object)), `watch of ${pathOf(url)}`)
          yield event
        }
      } catch (error) {
        if (!signal?.aborted || error instanceof ApiStatusError) throw error
      }
    },

    async raw(path, signal, mostBody = MOST_BODY) {
      return text(await send('GET', path, signal, { mostBody }))
    },
  }
}

function target(object: KubeObject, subresource?: string): Target {
  const { name, namespace } = object.metadata
  return { name, ...(namespace && { namespace }), ...(subresource && { subresource }) }
}

function missingNamespace(resource: ResourceRef, name: string): RollcallError {
  return new RollcallError('USAGE', `${resource.kind} ${JSON.stringify(name)} needs a namespace`)
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? url
}

async function text({ body }: ApiResponse): Promise<string> {
  const decoder = new TextDecoder()
  if (body instanceof Uint8Array) return decoder.decode(body)
  let whole = ''
  for await (const chunk of body) whole += decoder.decode(chunk, { stream: true })
  return whole + decoder.decode()
}

async function* one(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

async function* each(batches: AsyncIterable<readonly unknown[]>): AsyncGenerator<unknown> {
  for await (const batch of batches) yield* batch
}

function parseObject<T>(body: string, url: string): T {
  try {
    return JSON.parse(body) as T
  } catch (cause) {
    throw new RollcallError(
      'API_UNREACHABLE',
      `${pathOf(url)} answered something that is not JSON; check that the address is that of a Kubernetes API`,
      {},
      { cause },
    )
  }
}
