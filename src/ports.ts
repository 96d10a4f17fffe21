/**
 * The only doors to the world outside: time, chance, files. Everything that decides gets them passed in, so a year of
 * rotations runs in a second and the same seed gives the same events on any machine. The real ones are in src/host,
 * the simulated ones in src/fleet/simulated.
 */

/** A pending call of `Clock.after`. Cancelling one that already ran is harmless. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. May jump in either direction. */
  now(): number
  /** Milliseconds since some fixed moment; never goes back. For measuring durations. */
  monotonic(): number
  /** Calls `run` once, `milliseconds` from now (any length; negative counts as 0). */
  after(milliseconds: number, run: () => void): Timer
}

export interface Random {
  /** Cryptographically strong in production, drawn from the seed in a simulation. */
  bytes(length: number): Uint8Array
  /** Uniform in [0, 1). */
  float(): number
}

export interface FileStat {
  kind: 'file' | 'directory' | 'symlink' | 'other'
  /** Permission bits only, e.g. 0o600. */
  mode: number
  /** Bytes. */
  size: number
  /** Milliseconds since the epoch. */
  modified: number
  /** User id of the owner. */
  owner: number
}

export interface WriteOptions {
  /** Permission bits of a newly created file. */
  mode: number
  /** Fail with EEXIST when the file is there. */
  exclusive?: boolean
  /** Resolve only when the bytes are on the disk (fsync). */
  sync?: boolean
}

/** Files. Errors are those of node:fs, with their `code` (ENOENT, EEXIST, ENOSPC, EROFS, EACCES …). */
export interface Disk {
  read(path: string): Promise<Uint8Array>
  write(path: string, data: Uint8Array | string, options: WriteOptions): Promise<void>
  rename(from: string, to: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
  readlink(path: string): Promise<string>
  /** Removes a file or symlink; one that is not there is not an error. */
  remove(path: string): Promise<void>
  /** Names in the folder, sorted. */
  list(directory: string): Promise<string[]>
  /** Does not follow symlinks (lstat). */
  stat(path: string): Promise<FileStat>
  /** Creates the folder and its parents; one that is there keeps its mode. */
  makeDirectory(path: string, mode: number): Promise<void>
  /** Makes renames and removals in the folder durable (fsync on the folder). */
  syncDirectory(path: string): Promise<void>
}

/** What a room that reports progress or trouble writes to. Values must be free of secrets. */
export interface Log {
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

export const silentLog: Log = { info() {}, warn() {}, error() {} }

/** Resolves after `milliseconds`, or at once (without error) when the signal aborts: callers check `signal.aborted`. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const wake = () => {
      timer.cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const timer = clock.after(milliseconds, wake)
    signal?.addEventListener('abort', wake, { once: true })
  })
}

/** A promise that settles like `work`, or rejects with `onTimeout()` after `milliseconds`. */
export function withTimeout<T>(
  clock: Clock,
  milliseconds: number,
  work: Promise<T>,
  onTimeout: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(milliseconds, () => reject(onTimeout()))
    work.then(resolve, reject).finally(() => timer.cancel())
  })
}
