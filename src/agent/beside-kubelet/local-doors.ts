/** Doors to programs of this machine that live beside a kubelet; the real ones are serve-socket.ts and serve-proxy.ts. */
import type { ConnectionConfig } from '../../kube/transport.ts'
import type { Clock, Disk } from '../../ports.ts'
import type { ServingPair } from '../serving.ts'
import type { ProxyRefusal, ProxyRequest } from './proxy-rules.ts'

export interface SocketRequest {
  method: string
  url: string
  /** Aborts when the caller has left. */
  signal: AbortSignal
}

export interface SocketAnswer {
  status: number
  /** JSON. */
  body: string
}

export interface SocketOptions {
  /** In a folder that nobody else can enter; the caller sees to that. */
  path: string
  disk: Disk
  /** Never rejects. */
  answer(request: SocketRequest): Promise<SocketAnswer>
}

export interface LocalServer {
  close(): Promise<void>
}

/** Serves HTTP on a unix socket; one that a dead process left is replaced. Rejects with SOCKET_UNUSABLE. */
export type ServeSocket = (options: SocketOptions) => Promise<LocalServer>

export interface ProxyOptions {
  clock: Clock
  /** Of 127.0.0.1. */
  port: number
  pair: ServingPair
  /** Decides on the head alone, before anything goes upstream. */
  refuse(request: ProxyRequest): ProxyRefusal | undefined
  /** The way to the API under the certificate in force; waits a while for one. undefined: there is none. */
  upstream(signal: AbortSignal): Promise<ConnectionConfig | undefined>
}

/** The loopback proxy. Rejects with PORT_IN_USE or the system's error. */
export type ServeProxy = (options: ProxyOptions) => Promise<LocalServer & { port: number }>
