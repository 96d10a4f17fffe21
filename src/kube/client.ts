/**
 * A small typed client over a Transport. No caching, no retry: those are the reflector's and the caller's.
 * Every method rejects with RollcallError API_UNREACHABLE (no answer) or ApiStatusError (an answer that is an error).
 */
import type { KubeList, KubeObject, ResourceRef, Status, WatchEvent } from './types.ts'

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
    options?: { uid?: string; resourceVersion?: string; signal?: AbortSignal },
  ): Promise<Status | KubeObject>
  /** Ends when the server ends it or the signal aborts; an ERROR event is thrown as ApiStatusError. */
  watch<T extends KubeObject>(resource: ResourceRef, options?: WatchOptions): AsyncIterable<WatchEvent<T>>
  /** GET of any path, e.g. `/readyz`; the body as text. */
  raw(path: string, signal?: AbortSignal): Promise<string>
}
