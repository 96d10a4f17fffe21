/**
 * The storage door: bytes under keys, int64 revisions as in etcd. All keys are in memory and values are there or
 * a short read away, so reads are synchronous; a write resolves when it is durable.
 */

export interface Stored {
  readonly key: string
  /** May be read from the disk each time it is asked for. Throws RollcallError STORAGE_FAILED. */
  readonly value: Uint8Array
  /** Revision of the write that created the key. */
  readonly createRevision: number
  /** Revision of the last write. */
  readonly modRevision: number
}

export interface ListPage {
  items: readonly Stored[]
  /** The revision that the page shows. */
  revision: number
  /** Keys after the last item that were left out by `limit`. */
  remaining: number
}

export interface Write {
  key: string
  /** modRevision that the key must have; 0: it must be absent. */
  expect: number
  /** null deletes. */
  value: Uint8Array | null
  /** Milliseconds since the epoch after which the key is deleted (Events live an hour). */
  expiresAt?: number
}

export type WriteResult = { ok: true; revision: number } | { ok: false; current: Stored | undefined }

export interface StoreEvent {
  revision: number
  key: string
  /** Absent for a deletion. */
  current?: Stored
  /** Absent for a creation. */
  previous?: Stored
}

export interface Store {
  /** Revision of the last durable write; 1 in an empty store. */
  readonly revision: number
  get(key: string): Stored | undefined
  /**
   * Keys with `prefix` in order, after `after` (exclusive), at most `limit`; `revision` asks for an older state.
   * Throws CompactedError when that state is no longer kept.
   */
  list(prefix: string, options?: { after?: string; limit?: number; revision?: number }): ListPage
  /** Writes if the expectation holds; rejects when the disk refuses (nothing is then written, and nobody sees it). */
  write(write: Write): Promise<WriteResult>
  /**
   * Calls `listener` in order of revision for each change after `after` under `prefix`, first those already made.
   * Throws CompactedError when they are no longer kept. The function returned ends it.
   */
  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): () => void
  /** Forgets history up to `revision`. */
  compact(revision: number): void
  close(): Promise<void>
}

export class CompactedError extends Error {
  readonly oldest: number
  constructor(asked: number, oldest: number) {
    super(`revision ${asked} is compacted; the oldest kept is ${oldest}`)
    this.name = 'CompactedError'
    this.oldest = oldest
  }
}
