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
import { whenComplete, withoutBody } from './response-end.ts'
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
  const { clock, random, log, audit } = options
  const closing = new AbortController()
  const storage = observeWrites(options.store)
  const core = coreOf(options, storage.store, closing.signal)
  const documents = documentsOf(options.resources)
  const resources = options.resources.filter(resource => resource.stored)
  const stops = [startNamespaceLifecycle, startOwnerLifecycle].map(begin =>
    begin({ store: storage.store, resources, clock, log }),
  )
  const checks: HealthChecks = {
    ping: () => undefined,
    log: () => undefined,
    storage: storage.failure,
    shutdown: () => (closing.signal.aborted ? 'shutting down' : undefined),
  }

  return {
    async handle(request, peer) {
      const received = clock.now()
      const seen: Seen = {}
      let status: Status | undefined
      let response: ApiResponse
      try {
        response = await answer(core, request, peer, seen, info =>
          nonResource(request, info, checks, documents),
        )
      } catch (error) {
        status = statusOf(error)
        if (status.code === 500) log.error('a request failed', { url: request.url, error: String(error) })
        response = statusResponse(status)
      }
      if (request.method === 'HEAD') response = await withoutBody(response)
      if (!audit) return response
      const id = uuid(random)
      response.headers['audit-id'] = id
      const { identity, info = { path: request.url, query: new URLSearchParams(), verb: '' } } = seen
      const code = response.status
      return whenComplete(response, () =>
        audit(
          auditLine({ id, request, peer, info, identity, code, status, received, completed: clock.now() }),
        ),
      )
    },
    async close() {
      closing.abort()
      for (const stop of stops) stop()
    },
  }
}

function coreOf(options: ApiOptions, store: Store, closing: AbortSignal): Core {
  const { access, clock, random, log } = options
  const limits = { ...defaultLimits, ...options.limits }
  return {
    store,
    access,
    reader: options.reader ?? createObjectReader(store),
    resources: indexResources(options.resources),
    schemas: options.schemas ?? servedSchemas,
    hub: new WatchHub(store),
    bookmarks: new Bookmarks(clock, limits.bookmarkSeconds),
    clock,
    random,
    log,
    limits,
    closing,
  }
}

/** What was found out about a request, as far as it came: for its audit line. */
interface Seen {
  info?: RequestInfo
  identity?: Identity
}

/** Who is it, may it, do it: Kubernetes' order. Throws what response.ts makes a Status of. */
async function answer(
  core: Core,
  request: ApiRequest,
  peer: Peer,
  seen: Seen,
  answerPath: (info: RequestInfo) => ApiResponse,
): Promise<ApiResponse> {
  if (core.closing.aborted) throw apiError.unavailable('the server is shutting down')
  const info = requestInfo(request.method, request.url)
  seen.info = info
  const identity = core.access.authenticate(request, peer)
  seen.identity = identity
  if (info.resource) return dispatch(core, request, info, info.resource, identity.user)
  core.access.requireAllowed({ user: identity.user, verb: info.verb, path: info.path })
  return answerPath(info)
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
