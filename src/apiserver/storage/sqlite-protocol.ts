/** What the store and its worker thread say to each other. */

export interface WorkerOptions {
  path: string
  /** Bytes that the database may take; absent: what the disk gives. */
  maximumBytes?: number
}

/** An entry without its value, which is read when it is asked for. */
export interface LoadedRow {
  key: string
  createRevision: number
  modRevision: number
  expiresAt: number | null
}

export interface Row extends LoadedRow {
  value: Uint8Array
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
  | { type: 'rows'; rows: LoadedRow[] }
  | { type: 'open'; revision: number; torn: number }
  | { type: 'unusable'; message: string; locked: boolean }
  | { type: 'committed' }
  | { type: 'refused'; message: string }
