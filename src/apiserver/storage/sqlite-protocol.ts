/** What the store and its worker thread say to each other. */

export interface WorkerOptions {
  path: string
  /** Bytes that the database may take; absent: what the disk gives. */
  maximumBytes?: number
}

export interface Row {
  key: string
  value: Uint8Array
  createRevision: number
  modRevision: number
  expiresAt: number | null
}

/** One transaction. */
export interface Batch {
  puts: Row[]
  deletes: string[]
  /** Revision of the last write in it. */
  revision: number
}

export type ToWorker = { type: 'commit'; batch: Batch } | { type: 'close' }

/** `torn`: bytes that the log had after its last whole transaction. */
export type FromWorker =
  | { type: 'open'; revision: number; torn: number }
  | { type: 'unusable'; message: string; locked: boolean }
  | { type: 'committed' }
  | { type: 'refused'; message: string }
