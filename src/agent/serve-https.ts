import { constants } from 'node:crypto'
import type { IncomingMessage, Server as PlainServer, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { RollcallError, systemCode } from '../errors.ts'
import { createServer as createPlainServer } from '../kube/node-http.ts'
import type { ApiRequest, Peer } from '../kube/transport.ts'
import { answerUpgrade } from '../kube/upgrade/answer-upgrade.ts'
import { wantedUpgrade } from '../kube/upgrade/upgrade-headers.ts'
import { presentedChain } from './presented-chain.ts'
import type { ServeHttps, ServingOptions, ServingPair } from './serving.ts'

/** TLS record: alert, fatal, internal_error(80). node would send handshake_failure(40), which hides the cause (H-5). */
const internalError = Buffer.from([0x15, 3, 3, 0, 2, 2, 80])
/** Milliseconds a client may stay silent before it gets that alert. */
const refusalPatience = 10_000

/** Of connections whose handshake another process has made. */
const peers = new WeakMap<object, Peer>()

/** The real HTTPS server, over node:https. */
export const serveHttps: ServeHttps = async options => {
  // `handle` never rejects: what fails is a connection, whose client sees it end.
  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    void answer(options, request, response).catch(() => response.destroy())
  const server = createServer(
    {
      requestCert: true,
      // Who may do what is decided per request by the handler, with reasons; not here by hanging up.
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      // A resumed session would show an old identity after certificate or CA have changed.
      secureOptions: constants.SSL_OP_NO_TICKET,
      shouldUpgradeCallback: ({ headers }) => wantedUpgrade(headers) !== undefined,
    },
    onRequest,
  )
  const refused = new Set<Socket>()
  const upgraded = new Set<Duplex>()
  const onUpgrade = (request: IncomingMessage, connection: Duplex, head: Uint8Array) => {
    upgraded.add(connection)
    connection.once('close', () => upgraded.delete(connection))
    upgrade(options, request, connection, head).catch(() => connection.destroy())
  }
  const plain = createPlainServer(
    { shouldUpgradeCallback: ({ headers }) => wantedUpgrade(headers) !== undefined },
    onRequest,
  )
  for (const each of [server, plain]) each.on('upgrade', onUpgrade)
  guardConnections(server, plain, options, refused)
  await listening(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of [...refused, ...upgraded]) socket.destroy()
      server.closeAllConnections()
      plain.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

function listening(server: Server, { address, port }: ServingOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', error => {
      const taken = systemCode(error) === 'EADDRINUSE'
      reject(
        taken ? new RollcallError('PORT_IN_USE', `Port ${port} of ${address} is taken.`, { port }) : error,
      )
    })
    server.listen(port, address, resolve)
  })
}

/** Gives each new connection the pair in force (H-8), or the alert while there is none (H-5). */
function guardConnections(
  server: Server,
  plain: PlainServer,
  options: ServingOptions,
  refused: Set<Socket>,
): void {
  const { handshakes } = options
  const takeBack = (socket: Socket, peer: Peer) => {
    peers.set(socket, peer)
    plain.emit('connection', socket)
    socket.resume()
  }
  const accept = server.listeners('connection')
  server.removeAllListeners('connection')
  let inUse: ServingPair | undefined
  server.on('connection', (socket: Socket) => {
    const pair = options.getCertificate()
    if (!pair) return refuse(socket, refused)
    if (handshakes?.isFor(pair)) {
      // Why a token cannot be used is logged by who opens it; the client gets the alert.
      handshakes.take(socket, pair, takeBack).catch(() => refuse(socket, refused))
      return
    }
    if (pair !== inUse) {
      server.setSecureContext({
        cert: pair.chain,
        key: pair.key.reveal(),
        secureOptions: constants.SSL_OP_NO_TICKET,
        minVersion: 'TLSv1.2',
      })
      inUse = pair
    }
    for (const listener of accept) listener.call(server, socket)
  })
}

/** Waits for the ClientHello, so that the client reads the alert as the answer to it. */
function refuse(socket: Socket, refused: Set<Socket>): void {
  refused.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => refused.delete(socket))
  socket.setTimeout(refusalPatience, () => socket.destroy())
  socket.once('data', () => socket.end(internalError))
}

async function answer(
  options: ServingOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Nothing that is served here takes a body.
  request.resume()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const { status, headers, body } = await options.handle(apiRequest(request, gone.signal), peerOf(request))
  if (body instanceof Uint8Array) {
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(body)
    return
  }
  response.writeHead(status, headers)
  response.flushHeaders()
  for await (const chunk of body) {
    if (gone.signal.aborted) return
    if (!response.write(chunk)) await drained(response)
  }
  response.end()
}

/** Resolves when the client takes more, or has left. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const go = () => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.on('drain', go)
    response.on('close', go)
  })
}

/** A request whose connection is to become something else. */
async function upgrade(
  options: ServingOptions,
  request: IncomingMessage,
  connection: Duplex,
  head: Uint8Array,
): Promise<void> {
  const gone = new AbortController()
  connection.on('error', () => connection.destroy())
  connection.once('close', () => gone.abort())
  const wanted = { ...apiRequest(request, gone.signal), upgradable: true }
  await answerUpgrade(await options.handle(wanted, peerOf(request)), connection, head)
}

function apiRequest(request: IncomingMessage, signal: AbortSignal): ApiRequest {
  const { method = 'GET', url = '/' } = request
  return { method, url, headers: headersOf(request), signal }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const entries = Object.entries(request.headers)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}

function peerOf({ socket }: IncomingMessage): Peer {
  const handed = peers.get(socket)
  if (handed) return handed
  const remoteAddress = socket.remoteAddress ?? ''
  const certificates = socket instanceof TLSSocket ? presentedChain(socket.getPeerCertificate(true)) : []
  return certificates.length === 0 ? { remoteAddress } : { remoteAddress, certificates }
}
