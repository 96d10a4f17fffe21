/** What the API tells whoever counts. Numbers that can be read when they are asked for come through `watch`. */
import type { Identity } from '../access/access.ts'
import type { Refusal } from '../fairness/fair-queue.ts'
import type { Seats } from '../fairness/seats.ts'
import type { RequestInfo } from '../request-info.ts'
import type { Resource, StoredResource } from '../resources/resource.ts'
import type { Store } from '../storage/store.ts'

/** One request that was answered: for a watch, one whose stream is over. */
export interface AnsweredRequest {
  method: string
  info: RequestInfo | undefined
  identity: Identity | undefined
  /** The client certificate's DER. */
  certificate: Uint8Array | undefined
  /** HTTP status. */
  code: number
  /** Milliseconds since the epoch. */
  received: number
  /** From the first to the last byte, in seconds. */
  seconds: number
}

export interface MetricSources {
  store: Store
  resources: readonly Resource[]
  seats: Seats
}

export interface ApiMetrics {
  /** Called once, when the API is made. */
  attach(sources: MetricSources): void
  answered(request: AnsweredRequest): void
  /** A request was refused for the sake of others. */
  refused(identity: Identity, reason: Refusal): void
  /** An event was written to a watch. */
  watchEvent(resource: StoredResource, bytes: number): void
  /** Prometheus' text format and its content type. */
  render(): Promise<{ contentType: string; text: string }>
}
