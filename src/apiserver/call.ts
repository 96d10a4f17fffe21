import type { ApiRequest } from '../kube/transport.ts'
import type { UserInfo } from '../kube/types.ts'
import type { Clock, Log, Random } from '../ports.ts'
import type { Access } from './access/access.ts'
import type { TokenIssuer } from './access/authentication/service-account/token-issuer.ts'
import { defaultFairness, type FairnessLimits } from './fairness/limits.ts'
import type { Seats } from './fairness/seats.ts'
import type { ApiMetrics } from './metrics/api-metrics.ts'
import type { ObjectReader } from './reader.ts'
import type { ResourcePath } from './request-info.ts'
import type { ResourceIndex } from './resource-index.ts'
import type { StoredResource } from './resources/resource.ts'
import type { SchemaChecks } from './schema-checks.ts'
import type { Store } from './storage/store.ts'
import type { Tunnels } from './tunnel/tunnels.ts'
import type { Bookmarks } from './watch/bookmarks.ts'
import type { WatchLines } from './watch/watch-event.ts'
import type { WatchHub } from './watch/watch-hub.ts'

export interface Limits {
  /** Bytes of a request body; above it 413. */
  bodyBytes: number
  /** Events that a watch may be behind before it is ended; the client resumes where it was. */
  watchBacklog: number
  /** Seconds a watch lives at least when the client names no timeoutSeconds; at most twice as long. */
  watchSeconds: number
  /** Seconds between two bookmarks of a watch that asked for them. */
  bookmarkSeconds: number
  /** How many requests each client may have under way, and all together. */
  fairness: FairnessLimits
}

/** 3 MiB, watches of 30 to 60 minutes and a bookmark every minute are kube-apiserver's own limits. */
export const defaultLimits: Limits = {
  bodyBytes: 3 * 1024 * 1024,
  watchBacklog: 5000,
  watchSeconds: 1800,
  bookmarkSeconds: 60,
  fairness: defaultFairness,
}

/** What every request works with. */
export interface Core {
  store: Store
  access: Access
  reader: ObjectReader
  resources: ResourceIndex
  schemas: SchemaChecks
  hub: WatchHub
  lines: WatchLines
  bookmarks: Bookmarks
  seats: Seats
  clock: Clock
  random: Random
  log: Log
  limits: Limits
  metrics?: ApiMetrics
  /** Absent: no kubelet is reached through this API. */
  tunnels?: Tunnels
  /** Absent: service accounts have no tokens. */
  tokenIssuer?: TokenIssuer
  /** Aborted when the API closes. */
  closing: AbortSignal
  /** The running watches, to be ended at the close: thousands of listeners on one signal cost each other's length. */
  watches: Set<{ end(): void }>
}

/** One authorized request for a stored resource. */
export interface Call {
  core: Core
  request: ApiRequest
  resource: StoredResource
  path: ResourcePath
  query: URLSearchParams
  user: UserInfo
  /** Texts for Warning headers, collected on the way. */
  warnings: string[]
}
