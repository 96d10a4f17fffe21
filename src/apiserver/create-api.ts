import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { Status } from '../kube/types.ts'
import type { Clock, Log, Random } from '../ports.ts'
import type { Access, Identity } from './access/access.ts'
import type { TokenIssuer } from './access/authentication/service-account/token-issuer.ts'
import type { Api } from './api.ts'
import { type AuditSink, auditLine } from './audit/audit-event.ts'
import { type Core, defaultLimits, type Limits } from './call.ts'
import { dispatch } from './dispatch.ts'
import { type Documents, documentsOf } from './documents.ts'
import type { Release } from './fairness/fair-queue.ts'
import { isRefusal, Seats } from './fairness/seats.ts'
import { type Health, type HealthChecks, health } from './health.ts'
import type { ApiMetrics } from './metrics/api-metrics.ts'
import { startNamespaceLifecycle } from './namespace-lifecycle.ts'
import { uuid } from './object-name.ts'
import { createObjectReader } from './object-reader.ts'
import { openIdDocument } from './openid-documents.ts'
import { startOwnerLifecycle } from './owner-lifecycle.ts'
import type { ObjectReader } from './reader.ts'
import { type RequestInfo, requestInfo } from './request-info.ts'
import { indexResources } from './resource-index.ts'
import type { Resource } from './resources/resource.ts'
import { pageNotFound, statusOf, statusResponse, tooManyRequests } from './response.ts'
import { whenComplete, withoutBody } from './response-end.ts'
import { type SchemaChecks, servedSchemas } from './schema-checks.ts'
import { observeWrites } from './storage/observe-writes.ts'
import type { Store } from './storage/store.ts'
import type { Tunnels } from './tunnel/tunnels.ts'
import { Bookmarks } from './watch/bookmarks.ts'
import { WatchLines } from './watch/watch-event.ts'
import { WatchHub } from './watch/watch-hub.ts'
import { ApiError, apiError } from './wire/api-error.ts'

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
  /** Absent: service accounts have no tokens. `server` gives the API's URL, e.g. `https://127.0.0.1:6443`. */
  tokens?: { issuer: TokenIssuer; server(): string }
  /** Absent: nothing is counted, and /metrics is not served. */
  metrics?: ApiMetrics
  /** The way to kubelets (logs, exec, proxy). Absent: there is none. */
  tunnels?: Tunnels
  /** What is known of each kind's fields; those of wire/openapi when absent. */
  schemas?: SchemaChecks
  limits?: Partial<Limits>
  /** What must be well besides, before /readyz says so: what is put in place at start. */
  readyChecks?: HealthChecks
  /** Read-only views beside the resources: the JSON value at each path. Who may `get` the path may read it. */
  views?: Views
}

export type Views = Readonly<Record<string, () => unknown>>

const noQuery = new URLSearchParams()

/** Milliseconds that requests under way have when the API closes. */
const GOODBYE = 10_000

/** The embedded Kubernetes API over a store. It does not close the store. */
export function createApi(options: ApiOptions): Api {
  const { clock, log, audit, metrics } = options
  const closing = new AbortController()
  let shuttingDown = false
  const storage = observeWrites(options.store)
  const core = coreOf(options, storage.store, closing.signal)
  const { seats } = core
  metrics?.attach({ store: storage.store, resources: options.resources, seats })
  const resources = options.resources.filter(resource => resource.stored)
  const stops = [startNamespaceLifecycle, startOwnerLifecycle].map(begin =>
    begin({ store: storage.store, resources, clock, log }),
  )
  const alive: HealthChecks = { ping: () => undefined, log: () => undefined, storage: storage.failure }
  const shutdown = () => (shuttingDown ? 'shutting down' : undefined)
  const checks = { healthz: alive, livez: alive, readyz: { ...alive, ...options.readyChecks, shutdown } }
  const documents = documentsOf(options.resources, clock)
  const answerPath = nonResource({ checks, documents, metrics, tokens: options.tokens, views: options.views })

  return {
    async handle(request, peer) {
      const record = begin(request, peer, clock)
      let response: ApiResponse
      try {
        response = await answer(core, record, answerPath)
      } catch (error) {
        record.status = statusOf(error)
        // What kube-apiserver calls an internal error although the client made it is no news for the log.
        if (record.status.code === 500 && !(error instanceof ApiError))
          log.error('a request failed', { url: request.url, error: String(error) })
        response = statusResponse(record.status)
      }
      record.code = response.status
      // A watch is kept for hours, and what it was asked with is in its URL.
      if (!(response.body instanceof Uint8Array)) forgetAsked(record)
      if (request.method === 'HEAD') response = await withoutBody(response)
      if (audit) response.headers['audit-id'] = record.id = uuid(options.random)
      // Who runs a command is known before it ends, or is cut off.
      if (response.takeOver) audit?.(lineOf(record, clock, 'ResponseStarted'))
      return whenComplete(response, () => end(record, options))
    },
    beginShutdown() {
      shuttingDown = true
    },
    async close() {
      shuttingDown = true
      closing.abort()
      for (const stop of stops.splice(0)) stop()
      await seats.idle(GOODBYE)
    },
  }
}

function coreOf(options: ApiOptions, store: Store, closing: AbortSignal): Core {
  const { access, clock, random, log, metrics } = options
  const limits = { ...defaultLimits, ...options.limits }
  const watches: Core['watches'] = new Set()
  closing.addEventListener('abort', () => [...watches].forEach(watch => void watch.end()), { once: true })
  return {
    store,
    access,
    reader: options.reader ?? createObjectReader(store),
    resources: indexResources(options.resources),
    schemas: options.schemas ?? servedSchemas,
    hub: new WatchHub(store),
    lines: new WatchLines(),
    bookmarks: new Bookmarks(clock, limits.bookmarkSeconds),
    seats: new Seats(clock, limits.fairness),
    clock,
    random,
    log,
    limits,
    ...(metrics && { metrics }),
    ...(options.tunnels && { tunnels: options.tunnels }),
    ...(options.tokens && { tokenIssuer: options.tokens.issuer }),
    closing,
    watches,
  }
}

/** What becomes known of a request on its way: for its audit line and the metrics. */
interface RequestRecord {
  id: string
  request: ApiRequest
  peer: Peer
  info?: RequestInfo
  identity?: Identity
  /** Gives its seat back. */
  release?: Release
  code: number
  /** Where the answer is one. */
  status?: Status
  /** Milliseconds since the epoch, and of the monotonic clock. */
  received: number
  began: number
}

/** All but what the audit line and the metrics tell. */
function forgetAsked(record: RequestRecord): void {
  if (record.info) record.info = { ...record.info, query: noQuery }
  const { method, url, headers } = record.request
  const program = headers['user-agent']
  record.request = { method, url, headers: program === undefined ? {} : { 'user-agent': program } }
}

function begin(request: ApiRequest, peer: Peer, clock: Clock): RequestRecord {
  return { id: '', request, peer, code: 0, received: clock.now(), began: clock.monotonic() }
}

function end(record: RequestRecord, { audit, metrics, clock }: ApiOptions): void {
  record.release?.()
  const { request, peer, info, identity, code, received, began } = record
  metrics?.answered({
    method: request.method,
    info,
    identity,
    code,
    received,
    certificate: peer.certificates?.[0],
    seconds: (clock.monotonic() - began) / 1000,
  })
  audit?.(lineOf(record, clock))
}

function lineOf(record: RequestRecord, clock: Clock, stage?: 'ResponseStarted'): string {
  const { id, request, peer, identity, code, status, received } = record
  const info = record.info ?? { path: request.url, query: noQuery, verb: '' }
  const completed = clock.now()
  return auditLine({ id, stage, request, peer, info, identity, code, status, received, completed })
}

/** Who is it, is it its turn, may it, do it: Kubernetes' order. Throws what response.ts makes a Status of. */
async function answer(core: Core, record: RequestRecord, answerPath: AnswerPath): Promise<ApiResponse> {
  const { request, peer } = record
  if (core.closing.aborted) throw apiError.unavailable('the server is shutting down')
  const info = requestInfo(request.method, request.url)
  record.info = info
  const identity = core.access.authenticate(request, peer)
  record.identity = identity
  const seat = await core.seats.take(info, identity, request.signal)
  if (isRefusal(seat)) {
    core.metrics?.refused(identity, seat)
    return tooManyRequests(core.limits.fairness.retryAfterSeconds)
  }
  record.release = seat
  if (info.resource) return dispatch(core, request, info, info.resource, identity.user)
  core.access.requireAllowed({ user: identity.user, verb: info.verb, path: info.path })
  return answerPath(request, info)
}

type AnswerPath = (request: ApiRequest, info: RequestInfo) => ApiResponse | Promise<ApiResponse>

/** Paths that are no resource: health, metrics, OpenID, version, discovery, OpenAPI. */
function nonResource(of: {
  checks: Health
  documents: Documents
  metrics: ApiMetrics | undefined
  tokens: ApiOptions['tokens']
  views: Views | undefined
}): AnswerPath {
  return (request, info) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return pageNotFound()
    if (info.path === '/metrics' && of.metrics) return metricsPage(of.metrics)
    const { path } = info
    const view = of.views && Object.hasOwn(of.views, path) ? of.views[path] : undefined
    if (view) return jsonPage(view())
    return (
      health(path, info.query, of.checks) ??
      (of.tokens && openIdDocument(path, of.tokens.issuer, of.tokens.server())) ??
      of.documents(request, info) ??
      pageNotFound()
    )
  }
}

function jsonPage(value: unknown): ApiResponse {
  const body = new TextEncoder().encode(JSON.stringify(value))
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

async function metricsPage(metrics: ApiMetrics): Promise<ApiResponse> {
  const { contentType, text } = await metrics.render()
  return { status: 200, headers: { 'content-type': contentType }, body: new TextEncoder().encode(text) }
}
