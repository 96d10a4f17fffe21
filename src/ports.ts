/**
 * The only doors to the world outside: time, chance, files. Everything that decides gets them passed in, so a year of
 * rotations runs in a second and the same seed gives the same events on any machine. The real ones are in src/host,
 * the simulated ones in src/fleet/simulated.
 */

import type { Duplex } from 'node:stream'

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
  /** Which `other` it is, where the disk knows. */
  special?: 'socket' | 'character device' | 'block device' | 'pipe'
  /** Permission bits only, e.g. 0o600. */
  mode: number
  /** The sticky bit: only its owner may remove or replace what is in this folder. */
  sticky?: boolean
  /** Bytes. */
  size: number
  /** Milliseconds since the epoch. */
  modified: number
  /** When contents, owner or mode changed last: nobody can set it (ctime). Absent: the disk does not know. */
  changed?: number
  /** User id of the owner. */
  owner: number
  /** Group id. Absent: the disk knows no groups. */
  group?: number
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
  /** At most `length` bytes from `offset` on; fewer at the end of the file. Absent: files are read as a whole. */
  readRange?(path: string, offset: number, length: number): Promise<Uint8Array>
  write(path: string, data: Uint8Array | string, options: WriteOptions): Promise<void>
  /** Adds to the end of the file, which is created where it is missing. Absent: files are only written as a whole. */
  append?(path: string, data: Uint8Array | string, options: Omit<WriteOptions, 'exclusive'>): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Gives a file to a user and group. Absent: files belong to who made them. */
  changeOwner?(path: string, owner: number, group: number): Promise<void>
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
  /** Removes an empty folder. Absent: empty folders stay. */
  removeDirectory?(path: string): Promise<void>
  /** Makes renames and removals in the folder durable (fsync on the folder). */
  syncDirectory(path: string): Promise<void>
  /**
   * Calls `onChange` when something in the folder changed, perhaps more often than needed, and `onEnd` when it cannot tell
   * any longer (the folder went away). undefined: this folder cannot be watched now. Absent: no folder can be.
   */
  watch?(directory: string, onChange: () => void, onEnd: () => void): { close(): void } | undefined
}

export interface SpawnOrder {
  /** Absolute path. */
  command: string
  args: readonly string[]
  /** The whole of it: nothing is inherited. */
  environment: Readonly<Record<string, string>>
  directory: string
}

/** A child that outlives us. */
export interface SpawnedProcess {
  /** Also the id of its process group and session. */
  processId: number
  /** Resolves when it has ended; how, it has to leave on disk itself. */
  ended: Promise<void>
}

/** A child that is talked with, and ends with us. */
export interface TalkingProcess {
  processId: number
  /** Resolves when there is room for more; what a child that reads no more is told is lost. */
  write(bytes: Uint8Array): Promise<void>
  /** Ends its stdin. */
  end(): void
  stdout: AsyncIterable<Uint8Array>
  stderr: AsyncIterable<Uint8Array>
  /** Its exit code; 128 + the signal's number where a signal ended it. */
  ended: Promise<number>
  /** Ends it and its process group. */
  kill(): void
}

export interface RunOrder extends SpawnOrder {
  /** Ends it and its process group. */
  signal?: AbortSignal
  /** Bytes of stdout and of stderr that are kept; it is ended when it writes more to stdout. */
  mostOutput: number
}

export interface RunResult {
  /** Exit code; 128 + the signal's number when a signal ended it. */
  code: number
  stdout: Uint8Array
  stderr: Uint8Array
}

/** Processes. Each gets a session and process group of its own. Errors are those of node:child_process (ENOENT, EACCES …). */
export interface Spawn {
  /** User id that we run as. */
  readonly user: number
  /** Starts a child that outlives us; stdout and stderr are appended to the file `output`. */
  start(order: SpawnOrder & { output: string }): Promise<SpawnedProcess>
  /** Runs a child to its end. Rejects with an AbortError when the signal ended it. */
  run(order: RunOrder): Promise<RunResult>
  /** Starts a child to talk with. Absent: no child can be talked with. */
  talk?(order: SpawnOrder): Promise<TalkingProcess>
  /** Signals a process, or with a negative number a process group. One that is gone is not an error. */
  signal(target: number, signal: 'SIGTERM' | 'SIGKILL'): void
}

export interface HttpRequest {
  method: string
  /** http: or https:. */
  url: string
  headers?: Readonly<Record<string, string>>
  body?: string
  /** Through this unix socket instead of the URL's host. */
  socketPath?: string
  signal: AbortSignal
  /** Bytes of the answer that are kept; a longer one is cut. */
  mostBody: number
}

/** Plain connections to what runs on this machine: probes, plugins, forwarded ports. Never used for the API. */
export interface Net {
  /** One request on a connection of its own; TLS is not verified (as a kubelet's probes). */
  http(request: HttpRequest): Promise<{ status: number; body: string }>
  /** Resolves when a TCP connection could be opened; it is closed again. */
  connect(host: string, port: number, signal: AbortSignal): Promise<void>
  /** A TCP connection. Absent: none can be kept open. */
  open?(host: string, port: number): Promise<Duplex>
}

/** How a call failed: a gRPC status, and what the other side said. */
export interface RpcFailure extends Error {
  code: number
  details: string
}

/** gRPC to a program of this machine. */
export interface Rpc {
  /** `method` as `/package.Service/Method`. Rejects with an RpcFailure; code 4 after `milliseconds`, 1 when aborted. */
  call(
    method: string,
    request: Uint8Array,
    options: { milliseconds: number; signal?: AbortSignal },
  ): Promise<Uint8Array>
  /** One message there, many back, until the other side ends it; throws an RpcFailure, code 1 when aborted. */
  stream(method: string, request: Uint8Array, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Ends the calls under way. */
  close(): void
}

/** `endpoint`: `unix:///path`. Does not wait for a connection: calls fail with code 14 while there is none. */
export type ConnectRpc = (endpoint: string) => Promise<Rpc>

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
