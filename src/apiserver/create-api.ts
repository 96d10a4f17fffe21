import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { Status } from '../kube/types.ts'
import type { Clock, Log, Random } from '../ports.ts'
import type { Access, Identity } from './access/access.ts'
import type { Api } from './api.ts'
import { type AuditSink, auditLine } from './audit/audit-event.ts'
import { type Core, defaultLimits, type Limits } from './call.ts'
import { dispatch } from './dispatch.ts'
import { type Documents, documentsOf } from './documents.ts'
import { type HealthChecks, health } from './health.ts'
import { startNamespaceLifecycle } from './namespace-lifecycle.ts'
import { uuid } from './object-name.ts'
import { createObjectReader } from './object-reader.ts'
import { startOwnerLifecycle } from './owner-lifecycle.ts'
import type { ObjectReader } from './reader.ts'
import { type RequestInfo, requestInfo } from './request-info.ts'
import { indexResources } from './resource-index.ts'
import type { Resource } from './resources/resource.ts'
import { pageNotFound, statusOf, statusResponse } from './response.ts'
import { type SchemaChecks, servedSchemas } from './schema-checks.ts'
import { observeWrites } from './storage/observe-writes.ts'
import type { Store } from './storage/store.ts'
import { Bookmarks } from './watch/bookmarks.ts'
import { WatchHub } from './watch/watch-hub.ts'
import { apiError } from './wire/api-error.ts'

export interface ApiOptions {
  store: Store
  access: Access
  resources: readonly Resource[]
  /** The reader that `access` works with; made here when absent. */
  reader?: ObjectReader
  clock: Clock
  random: Random
  log: Log
  audit?: AuditSink
  /** What is known of each kind's fields; those of wire/openapi when absent. */
  schemas?: SchemaChecks
  limits?: Partial<Limits>
}

/** The embedded Kubernetes API over a store. It does not close the store. */
export function createApi(options: ApiOptions): Api {
  const { access, clock, random, log, audit } = options
  const storage = observeWrites(options.store)
  const { store } = storage
  const closing = new AbortController()
  const resources = indexResources(options.resources)
  const limits = { ...defaultLimits, ...options.limits }
  const core: Core = {
    store,
    access,
    reader: options.reader ?? createObjectReader(store),
    resources,
    schemas: options.schemas ?? servedSchemas,
    hub: new WatchHub(store),
    bookmarks: new Bookmarks(clock, limits.bookmarkSeconds),
    clock,
    random,
    log,
    limits,
    closing: closing.signal,
  }
  const documents = documentsOf(options.resources)
  const stored = options.resources.filter(resource => resource.stored)
  const stops = [startNamespaceLifecycle, startOwnerLifecycle].map(begin =>
    begin({ store, resources: stored, clock, log }),
  )
  const checks: HealthChecks = {
    ping: () => undefined,
    log: () => undefined,
    storage: storage.failure,
    shutdown: () => (closing.signal.aborted ? 'shutting down' : undefined),
  }

  /** `seen` is filled on the way, for the audit line of a request that fails. */
  async function answer(request: ApiRequest, peer: Peer, seen: Seen): Promise<ApiResponse> {
    if (closing.signal.aborted) throw apiError.unavailable('the server is shutting down')
    seen.info = requestInfo(request.method, request.url)
    seen.identity = access.authenticate(request, peer)
    const { info, identity } = seen
    if (info.resource) return dispatch(core, request, info, info.resource, identity.user)
    access.requireAllowed({ user: identity.user, verb: info.verb, path: info.path })
    return nonResource(request, info, checks, documents)
  }

  return {
    async handle(request, peer) {
      const received = clock.now()
      const seen: Seen = {}
      let status: Status | undefined
      let response: ApiResponse
      try {
        response = await answer(request, peer, seen)
      } catch (error) {
        status = statusOf(error)
        if (status.code === 500) log.error('a request failed', { url: request.url, error: String(error) })
        response = statusResponse(status)
      }
      if (request.method === 'HEAD') response = await withoutBody(response)
      if (!audit) return response
      const id = uuid(random)
      response.headers['audit-id'] = id
      const write = () =>
        audit(
          auditLine({
            id,
            request,
            peer,
            info: seen.info ?? { path: request.url, query: new URLSearchParams(), verb: '' },
            identity: seen.identity,
            code: response.status,
            status,
            received,
            completed: clock.now(),
          }),
        )
      return afterwards(response, write)
    },
    async close() {
      closing.abort()
      for (const stop of stops) stop()
    },
  }
}

interface Seen {
  info?: RequestInfo
  identity?: Identity
}

/** Paths that are no resource: health, version, discovery, OpenAPI. */
function nonResource(
  request: ApiRequest,
  info: RequestInfo,
  checks: HealthChecks,
  documents: Documents,
): ApiResponse {
  if (request.method !== 'GET' && request.method !== 'HEAD') return pageNotFound()
  return health(info.path, info.query, checks) ?? documents(request, info) ?? pageNotFound()
}

async function withoutBody(response: ApiResponse): Promise<ApiResponse> {
  if (!(response.body instanceof Uint8Array)) await response.body[Symbol.asyncIterator]().return?.()
  return { ...response, body: new Uint8Array() }
}

/** Calls `done` when the answer is complete: at once, or when its stream is over. */
function afterwards(response: ApiResponse, done: () => void): ApiResponse {
  const { body } = response
  if (body instanceof Uint8Array) {
    done()
    return response
  }
  const source = body[Symbol.asyncIterator]()
  let over = false
  const finish = () => {
    if (!over) done()
    over = true
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const result = await source.next()
      if (result.done) finish()
      return result
    },
    async return() {
      await source.return?.()
      finish()
      return { done: true, value: undefined }
    },
  }
  return { ...response, body: { [Symbol.asyncIterator]: () => iterator } }
}
