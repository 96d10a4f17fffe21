/** What gathering needs of the world, beside the API. */
import type { Clock } from '../../ports.ts'
import type { Served } from '../artifacts/endpoint-artifacts.ts'

export interface TlsTarget {
  host: string
  port: number
  /** Server name to send; absent: the host, where it is no address. */
  servername?: string
}

/** Makes a TLS handshake without trusting anybody, and tells what the server presented. Never rejects. */
export type LookAtTls = (target: TlsTarget) => Promise<Served>

export interface GatherPorts {
  clock: Clock
  lookAtTls: LookAtTls
}
