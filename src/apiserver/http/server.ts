import { constants } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext, TLSSocket } from 'node:tls'
import { RollcallError, systemCode } from '../../errors.ts'
import type { Secret } from '../../keys/secret.ts'
import type { Peer } from '../../kube/transport.ts'
import type { Clock, Log } from '../../ports.ts'
import type { Api } from '../api.ts'
import { BodyBudget, type BodyBudgetLimits } from './body-budget.ts'
import { type ChainChoice, type ChosenChains, chooseChains } from './chain-choice.ts'
import { type Exchange, messageExchange, streamExchange } from './exchange.ts'
import { BODY_TIMEOUT, handleExchange, handleUpgrade } from './handle-exchange.ts'
import { OpenConnections } from './open-connections.ts'
import { peerOf } from './peer.ts'
import { PresentedChains } from './presented-chains.ts'
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
  const presented = new PresentedChains(() => chains?.endSessions())
  server.on('secureConnection', (socket: TLSSocket) => presented.handshake(socket))
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
  takeRequests(server, options, connections, peersOf(connections, chains, presented))
  await listen(server, port, host)
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    setTls: tls => server.setSecureContext(secureContext(tls)),
    connections,
    close: () => close(server, options.clock, sessions, sockets),
  }
}

const nothing = () => {}

function takeRequests(
  server: Http2SecureServer,
  options: ServeOptions,
  connections: OpenConnections,
  peerFor: (connection: Exchange['connection']) => Peer,
): void {
  const handling = { ...options, budget: new BodyBudget(options.bodyBudget), connections }
  const take = (exchange: Exchange) => {
    const { answer, url } = exchange
    handleExchange(handling, exchange, peerFor(exchange.connection)).catch((error: unknown) => {
      options.log.error('an answer could not be sent', { url, error: String(error) })
      answer.destroy()
    })
  }
  // HTTP/1.1 alone: what node:http2 adds here for HTTP/2 is taken away again.
  server.on('request', (request, response) => {
    take(messageExchange(request as unknown as IncomingMessage, response as unknown as ServerResponse))
  })
  server.removeAllListeners('stream')
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    const rawHeaders = rest[1] as string[]
    // Its end is told by `close`, whatever the reason.
    stream.on('error', nothing)
    if (headers[':method'] === 'CONNECT') return stream.respond({ ':status': 405 }, { endStream: true })
    if (headers.expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
    if (stream.session) take(streamExchange(stream, stream.session, headers, rawHeaders))
  })
  // node:http's option, which node:http2 does not hand on: only these requests are upgrades.
  Object.assign(server, { shouldUpgradeCallback: mayUpgrade })
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Uint8Array) => {
    const peer = peerFor(request.socket as TLSSocket)
    handleUpgrade(options.api, request, connection, head, peer).catch((error: unknown) => {
      options.log.error('an answer could not be sent', { url: request.url, error: String(error) })
      connection.destroy()
    })
  })
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
  // Whoever serves one chain for all lets nothing be resumed; chain-choice.ts says where that is otherwise.
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

/** The certificates of a connection do not change, and reading them costs more than most requests. */
function peersOf(
  connections: OpenConnections,
  chains: ChosenChains | undefined,
  presented: PresentedChains,
): (connection: Exchange['connection']) => Peer {
  const peers = new WeakMap<Exchange['connection'], Peer>()
  return connection => {
    const known = peers.get(connection)
    if (known) return known
    const session = 'socket' in connection ? connection : undefined
    const socket = (session?.socket ?? connection) as TLSSocket
    const chain = chains?.of(socket)
    const peer = { ...peerOf(socket, presented.of(socket)), ...(chain !== undefined && { chain }) }
    peers.set(connection, peer)
    connections.opened(peer, socket, session)
    return peer
  }
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
