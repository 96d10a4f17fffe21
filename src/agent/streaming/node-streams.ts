/** `/exec`, `/attach` and `/portForward` of the node's server: from a request to the stream that it asks for. */
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import { bringsBody, switchingProtocols, wantedUpgrade } from '../../kube/upgrade/upgrade-headers.ts'
import type { ContainerStreams, Runtime } from '../../pods/runtime.ts'
import type { Clock } from '../../ports.ts'
import { findPod, type NodePods, runningContainer } from '../node-pods.ts'
import { plainText } from '../node-response.ts'
import { acceptWebSocket, chosenProtocol } from './accept-websocket.ts'
import type { CommandRequest } from './command-channels.ts'
import { passThrough } from './pass-through.ts'
import {
  forwardPorts,
  type OpenPort,
  portForwardProtocol,
  tunnelledProtocol,
  tunnelOf,
} from './port-forward.ts'
import { runCommand } from './run-command.ts'
import { spdyChannels, spdyCommandProtocols } from './spdy-channels.ts'
import { commandProtocols, websocketChannels } from './websocket-channels.ts'
import { forwardChannels, parsePorts, websocketPortProtocols } from './websocket-ports.ts'

/** Streams that are open at once; one more is refused with 429. */
const MOST_STREAMS = 256

export interface StreamRequest {
  request: ApiRequest
  /** The path behind `/exec`: namespace, pod, perhaps its uid, container. */
  segments: readonly string[]
  query: URLSearchParams
}

/** Takes a connection over; resolves when what was asked for is over. */
type Serve = (connection: Duplex, head: Uint8Array) => Promise<void>

export class NodeStreams {
  readonly #pods: NodePods | undefined
  readonly #clock: Clock
  #open = 0

  constructor({ pods, clock }: { pods: NodePods | undefined; clock: Clock }) {
    this.#pods = pods
    this.#clock = clock
  }

  async command(kind: 'exec' | 'attach', stream: StreamRequest): Promise<ApiResponse> {
    if (this.#open >= MOST_STREAMS) return plainText(429, 'too many streams are open')
    const { request, segments, query } = stream
    const [namespace = '', name = '', ...rest] = segments
    const container = rest.at(-1) ?? ''
    const view = findPod(this.#pods, namespace, name)
    if (!view || (rest.length > 1 && rest[0] !== view.pod.metadata.uid))
      return plainText(404, 'pod does not exist')
    const record = runningContainer(view, container)
    const runtime = this.#pods?.runtime
    if (!runtime || !record) return plainText(500, `container not found (${JSON.stringify(container)})`)
    const wanted = commandRequest(query)
    if (!wanted.stdin && !wanted.stdout && !wanted.stderr)
      return plainText(400, 'you must specify at least 1 of stdin, stdout, stderr')
    const command = query.getAll('command')
    if (kind === 'exec' && command.length === 0) return plainText(400, 'you must specify a command')
    const order = { command, ...wanted }
    if (runtime.streamUrl) return this.#throughRuntime(request, runtime.streamUrl({ kind, record, order }))
    const start = async () => {
      if (kind === 'exec') return (await runtime.openExec?.(record, order)) ?? unable(runtime, kind)
      return (await runtime.openAttach?.(record, order)) ?? unable(runtime, kind)
    }
    return this.#serveCommand(request, wanted, start)
  }

  async portForward({ request, segments, query }: StreamRequest): Promise<ApiResponse> {
    if (this.#open >= MOST_STREAMS) return plainText(429, 'too many streams are open')
    const [namespace = '', name = '', uid] = segments
    const view = findPod(this.#pods, namespace, name)
    const runtime = this.#pods?.runtime
    if (!view || !runtime || (uid !== undefined && uid !== view.pod.metadata.uid))
      return plainText(404, 'pod does not exist')
    const { pod } = view
    if (runtime.streamUrl) {
      const ports = parsePorts(query.getAll('port')) ?? []
      return this.#throughRuntime(request, runtime.streamUrl({ kind: 'portForward', pod, ports }))
    }
    const open: OpenPort = async port => {
      try {
        return (await runtime.openPort?.(pod, port)) ?? unable(runtime, 'port-forward')
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        throw new Error(`error forwarding port ${port} to pod ${name}, uid ${pod.metadata.uid}: ${why}`)
      }
    }
    const { headers } = request
    if (this.#upgradeOf(request) === 'websocket') {
      const ours = [tunnelledProtocol, ...websocketPortProtocols]
      const protocol = chosenProtocol(headers, ours)
      if (!protocol) return noProtocol(headers['sec-websocket-protocol'], ours)
      const ports = parsePorts(query.getAll('port'))
      if (protocol !== tunnelledProtocol && !ports)
        return plainText(400, 'query parameter "port" is required')
      return this.#takeOver((connection, head) =>
        overWebSocket(request, { connection, head, protocol }, socket =>
          ports && protocol !== tunnelledProtocol
            ? forwardChannels(socket, protocol, ports, open)
            : forwardPorts(tunnelOf(socket), new Uint8Array(), open),
        ),
      )
    }
    return this.#overSpdy(request, [portForwardProtocol], (connection, head) =>
      forwardPorts(connection, head, open),
    )
  }

  /** The kubelet's way with a container runtime: it serves the stream itself. */
  async #throughRuntime(request: ApiRequest, url: Promise<string>): Promise<ApiResponse> {
    try {
      const address = await url
      if (!this.#upgradeOf(request)) return plainText(400, 'Upgrade request required')
      return this.#counted(await passThrough(address, request, this.#clock))
    } catch (error) {
      return plainText(500, error instanceof Error ? error.message : String(error))
    }
  }

  #serveCommand(
    request: ApiRequest,
    wanted: CommandRequest,
    start: () => Promise<ContainerStreams>,
  ): ApiResponse {
    const { headers } = request
    if (this.#upgradeOf(request) === 'websocket') {
      const protocol = chosenProtocol(headers, commandProtocols)
      if (!protocol) return noProtocol(headers['sec-websocket-protocol'], commandProtocols)
      return this.#takeOver((connection, head) =>
        overWebSocket(request, { connection, head, protocol }, socket =>
          runCommand(websocketChannels(socket, protocol, wanted), start),
        ),
      )
    }
    return this.#overSpdy(request, spdyCommandProtocols, async (connection, head, protocol) => {
      const channels = await spdyChannels(connection, head, protocol, wanted, this.#clock)
      if (channels) await runCommand(channels, start)
    })
  }

  #overSpdy(
    request: ApiRequest,
    ours: readonly string[],
    serve: (connection: Duplex, head: Uint8Array, protocol: string) => Promise<void>,
  ): ApiResponse {
    if (this.#upgradeOf(request) !== 'SPDY/3.1')
      return plainText(400, 'unable to upgrade: missing upgrade headers in request')
    const named = request.headers['x-stream-protocol-version'] ?? ''
    const protocol = named.split(/\s*,\s*/).find(name => ours.includes(name))
    if (!protocol) return noProtocol(named, ours)
    return this.#takeOver((connection, head) => {
      connection.write(switchingProtocols('SPDY/3.1', { 'x-stream-protocol-version': protocol }))
      return serve(connection, head, protocol)
    })
  }

  #upgradeOf({ headers, upgradable }: ApiRequest) {
    return upgradable && !bringsBody(headers) ? wantedUpgrade(headers) : undefined
  }

  #takeOver(serve: Serve): ApiResponse {
    return this.#counted({
      status: 101,
      headers: {},
      body: new Uint8Array(),
      takeOver(connection, head) {
        connection.on('error', () => connection.destroy())
        // What a command or port says of itself is on its streams; here the connection broke.
        if (!connection.destroyed) serve(connection, head).catch(() => connection.destroy())
      },
    })
  }

  /** Counts a stream that is taken over until its connection closes. */
  #counted(response: ApiResponse): ApiResponse {
    const { takeOver } = response
    if (!takeOver) return response
    return {
      ...response,
      takeOver: (connection, head) => {
        this.#open++
        connection.once('close', () => {
          this.#open--
        })
        takeOver(connection, head)
      },
    }
  }
}

function commandRequest(query: URLSearchParams): CommandRequest {
  const flag = (name: string) => query.get(name) === '1' || query.get(name) === 'true'
  const tty = flag('tty')
  return { stdin: flag('input'), stdout: flag('output'), stderr: flag('error') && !tty, tty }
}

function overWebSocket(
  request: ApiRequest,
  upgrade: { connection: Duplex; head: Uint8Array; protocol: string },
  serve: (socket: Parameters<typeof tunnelOf>[0]) => Promise<void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    upgrade.connection.once('close', resolve)
    acceptWebSocket(request, upgrade, socket => {
      serve(socket).then(resolve, reject)
    })
  })
}

function noProtocol(named: string | undefined, ours: readonly string[]): ApiResponse {
  const why = `unable to negotiate protocol: client supports [${named ?? ''}], server accepts [${ours.join(' ')}]`
  const response = plainText(403, `unable to upgrade: ${why}`)
  response.headers['x-accepted-stream-protocol-versions'] = ours.join(', ')
  return response
}

function unable({ name }: Runtime, what: string): never {
  throw new Error(`the runtime ${JSON.stringify(name)} knows no ${what}`)
}
