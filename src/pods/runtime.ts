/** What runs containers: the CRI of a container runtime, or plain processes of the host (process/). */
import type { Duplex } from 'node:stream'
import type { Container, StaticPod } from './pod.ts'

/** One run of one container, under way or over. */
export interface ContainerRecord {
  /** Stays the same across restarts of the agent. */
  id: string
  /** The pod it belongs to: `namespace/name` of the static pod, its uid, and the revision of its manifest. */
  podKey: string
  podUid: string
  revision: string
  container: string
  init: boolean
  /** Which run of the container in this pod it is, from 0: Kubernetes' restartCount. */
  attempt: number
  /** Restarts in a row without a long run between them, before this run. */
  crashes: number
  state: 'Running' | 'Exited'
  /** Milliseconds since the epoch. */
  startedAt: number
  finishedAt?: number
  /** 128 + the signal's number where a signal ended it; undefined while it runs. */
  exitCode?: number
  /** As Kubernetes says: Completed, Error, OOMKilled, ContainerCannotRun. */
  reason?: string
  message?: string
  /** Which image it runs, as the runtime names it; undefined: none. */
  imageID?: string
}

/** Something that the runtime says of itself, e.g. RuntimeReady. */
export interface RuntimeCondition {
  type: string
  status: boolean
  /** Why it does not hold. */
  message: string
}

export interface StartOrder {
  pod: StaticPod
  container: Container
  init: boolean
  attempt: number
  crashes: number
}

export interface ExecOrder {
  command: readonly string[]
  /** A terminal, on which stderr comes with stdout. */
  tty: boolean
  /** Something may be written to it. */
  stdin: boolean
}

/** A stream that a runtime may serve by itself. */
export type RuntimeStream =
  | { kind: 'exec'; record: ContainerRecord; order: ExecOrder }
  | { kind: 'attach'; record: ContainerRecord; order: Omit<ExecOrder, 'command'> }
  | { kind: 'portForward'; pod: StaticPod; ports: readonly number[] }

/** What runs in a container for somebody who talks with it: a command, or the container's own process. */
export interface ContainerStreams {
  /** Absent: it reads nothing. `write` resolves when there is room for more. */
  stdin?: { write(bytes: Uint8Array): Promise<void>; end(): void }
  stdout: AsyncIterable<Uint8Array>
  /** Absent with a terminal. */
  stderr?: AsyncIterable<Uint8Array>
  /** 128 + the signal's number where a signal ended it. */
  exitCode: Promise<number>
  /** The terminal has this many characters from now on. */
  resize?(size: { width: number; height: number }): void
  /** Who talked with it has left: a command ends, a container goes on. */
  close(): void
}

export interface Runtime {
  readonly name: string
  /** As the Node shows it, e.g. `containerd://1.6.20`; undefined: not known (yet). */
  version?(): string | undefined
  /** Why nothing can be started now, though it was opened; what runs goes on. undefined: something can. */
  problem?(): string | undefined
  /** What it says of itself. */
  conditions?(): readonly RuntimeCondition[]
  /** Why this runtime cannot run the pod as the manifest says, one sentence each; empty: it can. */
  refusals(pod: StaticPod): string[]
  /**
   * Finds what an earlier agent left. Rejects with POD_RUNTIME_UNAVAILABLE while the runtime cannot be used (no socket,
   * another agent has it); called again later then.
   */
  open(): Promise<void>
  /** The pods that it has containers of, as they were when these were started. */
  pods(): readonly StaticPod[]
  /** All runs it has and only those that this agent or an earlier one started. */
  containers(): readonly ContainerRecord[]
  /** Of a pod with a network of its own; empty: none (yet). Absent: no pod has one. */
  addresses?(pod: StaticPod): readonly string[]
  /** Called after `containers()` or an address changed. The function returned ends it. */
  onChange(listener: () => void): () => void
  /**
   * Starts a container. One that cannot be run is a record that has exited; rejects when not even that is possible
   * (not-started.ts tells why, and how soon to try again).
   */
  start(order: StartOrder): Promise<void>
  /** TERM, after `grace` seconds KILL. Resolves when the record has exited. */
  stop(record: ContainerRecord, grace: number): Promise<void>
  /** Forgets a record that has exited, with its log. */
  remove(record: ContainerRecord): Promise<void>
  /** Forgets a pod without containers, with its logs and volumes. */
  removePod(pod: StaticPod): Promise<void>
  /**
   * Runs a command as the container would; resolves with the exit code and rejects when it cannot be run. `seconds`: how
   * long it may take at most; a runtime that cannot be told by the signal ends it then.
   */
  exec(
    record: ContainerRecord,
    command: readonly string[],
    signal: AbortSignal,
    seconds: number,
  ): Promise<number>
  /** Runs a command as the container would, and talks with it. Absent: no `kubectl exec`. */
  openExec?(record: ContainerRecord, order: ExecOrder): Promise<ContainerStreams>
  /** Talks with the container's own process. Absent: no `kubectl attach`. */
  openAttach?(record: ContainerRecord, order: Omit<ExecOrder, 'command'>): Promise<ContainerStreams>
  /** A connection to a TCP port in the pod. Absent: no `kubectl port-forward`. */
  openPort?(pod: StaticPod, port: number): Promise<Duplex>
  /**
   * Where the runtime itself speaks SPDY and WebSocket for such a stream (CRI's Exec, Attach, PortForward): an http URL of
   * this machine, to which the agent passes what it gets, byte by byte. Asked before the three above. Rejects with the
   * runtime's own words.
   */
  streamUrl?(stream: RuntimeStream): Promise<string>
  /** Where the log of a run is on disk. */
  logPath(record: ContainerRecord): string
  /** Absent: `raw`, what the container wrote. `cri`: lines of `TIME stdout|stderr F|P TEXT`. */
  readonly logFormat?: 'raw' | 'cri'
  /** Ends what belongs to this agent. The containers go on. */
  close(): Promise<void>
}
