import { constants } from 'node:crypto'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RollcallError, systemCode } from '../../errors.ts'
import { type HttpConnections, httpConnections } from '../../kube/http-agent.ts'
import type { ConnectionConfig } from '../../kube/transport.ts'
import { splice } from '../../kube/upgrade/splice.ts'
import { bringsBody, wantedUpgrade } from '../../kube/upgrade/upgrade-headers.ts'
import type { ProxyOptions, ServeProxy } from './local-doors.ts'
import { answerHeaders, type ProxyRefusal, upstreamHeaders } from './proxy-rules.ts'

const loopback = '127.0.0.1'
/** A kubelet needs a few; whoever opens all of them takes no file from the rest of the agent. */
const mostConnections = 256
/** Milliseconds that a caller has for its handshake, and then for the head of each request. */
const callerPatience = 10_000
/** Milliseconds that connections under an old certificate have to come to their end. */
const OLD_CONNECTIONS = 60_000

/** Over node:https: what comes in is judged by its head, and passes on as it comes, both ways. */
export const serveProxy: ServeProxy = async options => {
  const { pair } = options
  const upstream = new Upstream(options)
  const server = createServer(
    {
      cert: pair.chain,
      key: pair.key.reveal(),
      minVersion: 'TLSv1.2',
      secureOptions: constants.SSL_OP_NO_TICKET,
      handshakeTimeout: callerPatience,
      headersTimeout: callerPatience,
      // A body may take as long as it likes.
      requestTimeout: 0,
      shouldUpgradeCallback: ({ headers }) => wantedUpgrade(headers) !== undefined,
    },
    (request, response) => void forward(options, upstream, request, response),
  )
  server.maxConnections = mostConnections
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Uint8Array) => {
    upgraded.add(connection)
    connection.once('close', () => upgraded.delete(connection))
    connection.on('error', () => connection.destroy())
    // One of the two connections broke: to the kubelet its own ends.
    forwardUpgrade(options, upstream, request, connection, head).catch(() => connection.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => {
      const taken = systemCode(error) === 'EADDRINUSE'
      const { port } = options
      reject(
        taken ? new RollcallError('PORT_IN_USE', `Port ${port} of ${loopback} is taken.`, { port }) : error,
      )
    })
    server.listen(options.port, loopback, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const connection of upgraded) connection.destroy()
      server.closeAllConnections()
      upstream.close()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

/** The connections under the certificate in force. */
class Upstream {
  readonly #options: ProxyOptions
  #config: ConnectionConfig | undefined
  #connections: HttpConnections | undefined
  readonly #old = new Map<HttpConnections, { cancel(): void }>()

  constructor(options: ProxyOptions) {
    this.#options = options
  }

  async connections(signal: AbortSignal): Promise<HttpConnections | undefined> {
    const config = await this.#options.upstream(signal)
    if (!config) return undefined
    if (config === this.#config && this.#connections) return this.#connections
    const last = this.#connections
    this.#connections = httpConnections(config, Number.POSITIVE_INFINITY)
    this.#config = config
    if (last) this.#retire(last)
    return this.#connections
  }

  /** Requests under way get their answer, watches then begin anew under the new certificate (K-51). */
  #retire(last: HttpConnections): void {
    const timer = this.#options.clock.after(OLD_CONNECTIONS, () => {
      this.#old.delete(last)
      last.agent.destroy()
    })
    this.#old.set(last, timer)
  }

  close(): void {
    for (const [connections, timer] of this.#old) {
      timer.cancel()
      connections.agent.destroy()
    }
    this.#connections?.agent.destroy()
  }
}

async function forward(
  options: ProxyOptions,
  upstream: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = refusalFor(options, request)
  if (refusal) {
    // The body of who may not ask is not read.
    response.writeHead(refusal.status, { ...statusHeaders, connection: 'close' }).end(statusBody(refusal))
    return
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const sent = await send(upstream, request, gone.signal)
    if (!sent) return unavailable(response, 'the node has no client certificate now; it asks for one')
    sent.on('error', error => {
      if (response.headersSent) response.destroy()
      else unavailable(response, error.message)
    })
    sent.once('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer.rawHeaders))
      // A watch's headers are waited for before its first event comes.
      response.flushHeaders()
      answer.on('error', () => response.destroy())
      answer.pipe(response)
    })
    request.pipe(sent)
  } catch (error) {
    unavailable(response, error instanceof Error ? error.message : String(error))
  }
}

async function forwardUpgrade(
  options: ProxyOptions,
  upstream: Upstream,
  request: IncomingMessage,
  connection: Duplex,
  head: Uint8Array,
): Promise<void> {
  const refusal =
    refusalFor(options, request) ??
    (bringsBody(request.headers) ? { status: 400, reason: 'BadRequest', message: 'no body here' } : undefined)
  if (refusal) {
    const body = statusBody(refusal)
    connection.end(
      `HTTP/1.1 ${refusal.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
    return
  }
  const gone = new AbortController()
  connection.once('close', () => gone.abort())
  const sent = await send(upstream, request, gone.signal, wantedUpgrade(request.headers))
  if (!sent) return void connection.destroy()
  sent.on('error', () => connection.destroy())
  sent.once('response', answer => {
    connection.write(headOf(answer, answerHeaders(answer.rawHeaders)))
    answer.pipe(connection)
  })
  sent.once('upgrade', (answer: IncomingMessage, other: Socket, first: Buffer) => {
    connection.write(headOf(answer, answer.rawHeaders))
    if (first.length > 0) connection.write(first)
    if (head.length > 0) other.write(head)
    splice(connection, other, options.clock)
  })
  sent.end()
}

/** A head as it is sent. An answer that is no upgrade ends with its connection. */
function headOf({ statusCode, statusMessage }: IncomingMessage, rawHeaders: readonly string[]): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`)
  if (statusCode !== 101) lines.push('Connection: close')
  return `${lines.join('\r\n')}\r\n\r\n`
}

function refusalFor({ refuse }: ProxyOptions, request: IncomingMessage): ProxyRefusal | undefined {
  const { method = '', url = '', rawHeaders } = request
  return refuse({ method, url, rawHeaders })
}

async function send(
  upstream: Upstream,
  request: IncomingMessage,
  signal: AbortSignal,
  upgrade?: string,
): Promise<ClientRequest | undefined> {
  const connections = await upstream.connections(signal)
  if (!connections || signal.aborted) return undefined
  const { request: start, base, options } = connections
  const { method = 'GET', url = '/', rawHeaders } = request
  return start({
    ...options,
    protocol: base.protocol,
    host: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port,
    path: base.pathname.replace(/\/$/, '') + url,
    method,
    headers: upstreamHeaders(rawHeaders, base.host, upgrade),
    signal,
  })
}

const statusHeaders = { 'content-type': 'application/json' }

/** As Kubernetes says no. */
function statusBody({
  status,
  reason,
  message,
}: {
  status: number
  reason: string
  message: string
}): string {
  return `${JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code: status })}\n`
}

function unavailable(response: ServerResponse, message: string): void {
  if (response.headersSent) return void response.destroy()
  const status = { status: 503, reason: 'ServiceUnavailable', message: `rollcall agent: ${message}` }
  response.writeHead(503, { ...statusHeaders, 'retry-after': '1' }).end(statusBody(status))
}
