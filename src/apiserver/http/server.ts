import { constants } from 'node:crypto'
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext, TLSSocket } from 'node:tls'
import { RollcallError, systemCode } from '../../errors.ts'
import type { Secret } from '../../keys/secret.ts'
import type { ApiRequest, ApiResponse, Peer } from '../../kube/transport.ts'
import { answerUpgrade } from '../../kube/upgrade/answer-upgrade.ts'
import type { Clock, Log } from '../../ports.ts'
import type { Api } from '../api.ts'
import { defaultLimits } from '../call.ts'
import { statusResponse, tooManyRequests } from '../response.ts'
import { apiError } from '../wire/api-error.ts'
import { BodyBudget, type BodyBudgetLimits, type Share } from './body-budget.ts'
import { type ChainChoice, type ChosenChains, chooseChains } from './chain-choice.ts'
import { impersonationValues } from './impersonation-values.ts'
import { OpenConnections } from './open-connections.ts'
import { peerOf } from './peer.ts'
import { type BodyRefusal, readRequestBody } from './request-body.ts'
import { respond } from './respond.ts'
import { mayUpgrade } from './upgrade.ts'

/** The serving pair, and the CAs (PEM) whose names are sent to clients that look for a certificate to present. */
export interface ServerTls {
  certificate: string
  key: Secret
  clientCertificateAuthorities: string
}

export interface ServeOptions {
  api: Api
  /** 0: a free one. */
  port: number
  /** 127.0.0.1 when absent. */
  host?: string
  tls: ServerTls
  /** Chooses the chain of each connection; absent: `tls` for all. */
  chains?: ChainChoice
  clock: Clock
  log: Log
  /** Bytes of a request body; above it 413. */
  bodyBytes?: number
  /** What bodies may take of the memory. */
  bodyBudget?: BodyBudgetLimits
}

export interface RunningServer {
  port: number
  /** A new pair or new CAs; connections that are open keep the old pair. */
  setTls(tls: ServerTls): void
  /** Those that are open. */
  connections: Pick<OpenConnections, 'retire' | 'cut'>
  /** Says goodbye on every connection and closes them. The API is the caller's to close, before. */
  close(): Promise<void>
}

/** Milliseconds. A client makes its handshake within this. */
const HANDSHAKE_TIMEOUT = 10_000
/** Milliseconds. A body is there within this. */
const BODY_TIMEOUT = 60_000
/** For HTTP/1.1, in milliseconds; an idle connection is kept as long as Go's servers do, so that clients can reuse it. */
const http1Timeouts = { headersTimeout: 10_000, requestTimeout: BODY_TIMEOUT, keepAliveTimeout: 90_000 }
/** Milliseconds of silence after which a connection is probed, so that watches of dead machines end. */
const KEEP_ALIVE = 30_000
/** Milliseconds until a connection that closes is cut. */
const GOODBYE = 1000

/** Serves the API over TLS, HTTP/2 and 1.1 on one port. Rejects with RollcallError PORT_IN_USE, USAGE or KEY_MISMATCH. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host = '127.0.0.1', port } = options
  const chains = options.chains && chooseChains(options.chains)
  const server = createServer(options.tls, chains)
  chains?.guard(server)
  const connections = new OpenConnections()
  const peerFor = peersOf(connections, chains)
  const budget = new BodyBudget(options.bodyBudget)
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<Socket>()
  server.on('session', session => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    // A broken connection is the client's affair; what was under way ends with it.
    session.on('error', () => session.destroy())
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.setKeepAlive(true, KEEP_ALIVE)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('request', (request, response) => {
    handle(options, budget, request, response, connections, peerFor(request)).catch((error: unknown) => {
      options.log.error('an answer could not be sent', { url: request.url, error: String(error) })
      response.stream?.destroy()
    })
  })
  // node:http's option, which node:http2 does not hand on: only these requests are upgrades.
  Object.assign(server, { shouldUpgradeCallback: mayUpgrade })
  server.on('upgrade', (request: Http2ServerRequest, connection: Duplex, head: Uint8Array) => {
    upgrade(options, request, connection, head, peerFor(request)).catch((error: unknown) => {
      options.log.error('an answer could not be sent', { url: request.url, error: String(error) })
      connection.destroy()
    })
  })
  await listen(server, port, host)
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    setTls: tls => server.setSecureContext(secureContext(tls)),
    connections,
    close: () => close(server, options.clock, sessions, sockets),
  }
}

function createServer(tls: ServerTls, chains: ChosenChains | undefined): Http2SecureServer {
  return createSecureServer({
    ...secureContext(tls),
    allowHTTP1: true,
    // Asked for, never demanded: who presents none may still have a token.
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_TIMEOUT,
    ...(chains && {
      SNICallback: (name: string, done: (error: null, context?: SecureContext) => void) =>
        done(null, chains.contextFor(name)),
    }),
    ...http1Timeouts,
    // Go multiplexes all its requests over one connection: the defaults cut that off under load.
    maxSessionMemory: 256,
    settings: { maxConcurrentStreams: 250 },
    // Clients end watches by resetting streams, a thousand informers do it at once.
    streamResetBurst: 20_000,
    streamResetRate: 2000,
  })
}

const secureContext = ({ certificate, key, clientCertificateAuthorities }: ServerTls) => ({
  cert: certificate,
  key: key.reveal(),
  ca: clientCertificateAuthorities,
  minVersion: 'TLSv1.2' as const,
  // A resumed session has the leaf of the one before without its chain, and hides what was distrusted since.
  secureOptions: constants.SSL_OP_NO_TICKET,
})

function listen(server: Http2SecureServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      reject(listenError(error, port, host))
    })
    server.listen(port, host, resolve)
  })
}

function listenError(error: Error, port: number, host: string): Error {
  const code = systemCode(error)
  const otherPort = 'give another --port'
  const advice = {
    EADDRINUSE: otherPort,
    EACCES: otherPort,
    EADDRNOTAVAIL: 'this machine has no such address',
  }[code ?? '']
  if (advice === undefined) return error
  const text = `${host}:${port} cannot be listened on (${code}); ${advice}`
  return new RollcallError('PORT_IN_USE', text, { host, port }, { cause: error })
}

/** One for all: a reason of its own costs each request the capture of a stack. */
const left = new Error('the client has left or has its answer')

async function handle(
  options: ServeOptions,
  budget: BodyBudget,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  connections: OpenConnections,
  peer: Peer,
): Promise<void> {
  const { clock } = options
  const gone = new AbortController()
  response.on('close', () => gone.abort(left))
  response.on('error', () => gone.abort(left))
  const share = budget.share(request.stream?.session ?? request.socket)
  let streamed = () => {}
  try {
    const answer = await answerTo(options, share, request, gone, peer)
    if (!answer) return
    if (request.httpVersionMajor === 1 && connections.isRetired(peer)) answer.headers.connection = 'close'
    if (!(answer.body instanceof Uint8Array)) streamed = connections.streaming(peer)
    await respond(response, answer, gone.signal, clock)
  } finally {
    streamed()
    share.giveBack()
  }
}

/** A request whose connection is to become something else; it has no body. */
async function upgrade(
  { api }: ServeOptions,
  request: Http2ServerRequest,
  connection: Duplex,
  head: Uint8Array,
  peer: Peer,
): Promise<void> {
  const gone = new AbortController()
  connection.on('close', () => gone.abort(left))
  connection.on('error', () => gone.abort(left))
  const wanted = { ...apiRequest(request, noBody, gone.signal), upgradable: true }
  await answerUpgrade(await api.handle(wanted, peer), connection, head)
}

/** Undefined when nobody waits for it any more. */
async function answerTo(
  { api, clock, bodyBytes = defaultLimits.bodyBytes }: ServeOptions,
  share: Share,
  request: Http2ServerRequest,
  gone: AbortController,
  peer: Peer,
): Promise<ApiResponse | undefined> {
  const body = hasNoBody(request) ? noBody : await readInTime(clock, request, bodyBytes, share, gone)
  if (gone.signal.aborted) return undefined
  if (typeof body !== 'string') return api.handle(apiRequest(request, body, gone.signal), peer)
  const refusal =
    body === 'no-room'
      ? tooManyRequests(defaultLimits.fairness.retryAfterSeconds)
      : statusResponse(apiError.requestTooLarge(bodyBytes).status)
  // The rest of a body that was refused is not read, so an HTTP/1.1 connection cannot be used again.
  if (request.httpVersionMajor === 1) refusal.headers.connection = 'close'
  return refusal
}

const noBody = new Uint8Array()

/** Most requests are reads: for them neither a timer nor a stream is needed. */
function hasNoBody(request: Http2ServerRequest): boolean {
  if (request.stream) return request.stream.endAfterHeaders
  return !('content-length' in request.headers) && !('transfer-encoding' in request.headers)
}

/** Aborts `gone` when the client left in the middle or was too slow. */
async function readInTime(
  clock: Clock,
  request: Http2ServerRequest,
  bodyBytes: number,
  share: Share,
  gone: AbortController,
): Promise<Uint8Array | BodyRefusal> {
  const slow = clock.after(BODY_TIMEOUT, () => request.destroy())
  try {
    return await readRequestBody(request, bodyBytes, share)
  } catch {
    gone.abort(left)
    return noBody
  } finally {
    slow.cancel()
  }
}

/** The certificates of a connection do not change, and reading them costs more than most requests. */
function peersOf(
  connections: OpenConnections,
  chains: ChosenChains | undefined,
): (request: Http2ServerRequest) => Peer {
  const peers = new WeakMap<TLSSocket, Peer>()
  return request => {
    const session = request.stream?.session
    const socket = (session?.socket ?? request.socket) as TLSSocket
    const known = peers.get(socket)
    if (known) return known
    const chain = chains?.of(socket)
    const peer = { ...peerOf(socket), ...(chain !== undefined && { chain }) }
    peers.set(socket, peer)
    connections.opened(peer, socket, session)
    return peer
  }
}

function apiRequest(request: Http2ServerRequest, body: Uint8Array, signal: AbortSignal): ApiRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(':') || value === undefined) continue
    headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  // Without a user the other headers are an error that names them, so they are read all the same.
  if (Object.keys(headers).some(name => name.startsWith('impersonate-')))
    Object.assign(headers, impersonationValues(request.rawHeaders))
  // HTTP/2 has no Host of its own, but says the same in a pseudo-header.
  if (headers.host === undefined && request.authority) headers.host = request.authority
  const { method, url } = request
  return { method, url, headers, signal, ...(body.length > 0 && { body }) }
}

async function close(
  server: Http2SecureServer,
  clock: Clock,
  sessions: ReadonlySet<ServerHttp2Session>,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  // GOAWAY: what is under way is finished, nothing new begins.
  for (const session of sessions) session.close()
  const cut = clock.after(GOODBYE, () => {
    for (const socket of sockets) socket.destroy()
  })
  await closed
  cut.cancel()
}
