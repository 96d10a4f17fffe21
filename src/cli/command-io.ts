import type { KubeClient } from '../kube/client.ts'
import type { Transport } from '../kube/transport.ts'
import type { Clock } from '../ports.ts'

/** Which API a command talks to, as its flags say. */
export interface ConnectionFlags {
  kubeconfig?: string
  context?: string
}

export interface ConnectedApi {
  client: KubeClient
  /** Address of the API, to show. */
  server: string
  /** Our own client certificate in PEM, leaf first, where the kubeconfig has one. */
  certificate?: string
  /** For what is no resource; absent where a client is all there is. */
  transport?: Transport
  close(): void
}

/** What a command prints to and asks. `main.ts` gives the process's own (system-io.ts), tests their own. */
export interface CommandIo {
  /** Text as it is; lines end in `\n`. */
  stdout(text: string): void
  stderr(text: string): void
  clock: Clock
  /** Whether stdout is a terminal. */
  isTerminal: boolean
  /** Absent: as isTerminal. */
  colours?: boolean
  /** `lasting`: for a program that stays and asks much. Rejects with RollcallError KUBECONFIG_INVALID. */
  connect(flags: ConnectionFlags, lasting?: boolean): Promise<ConnectedApi>
  /** Sets the exit code of a command that ended well but found something; errors are thrown instead. */
  exitWith(code: number): void
}
