import { constants } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { RollcallError, systemCode } from '../errors.ts'
import type { ApiRequest, Peer } from '../kube/transport.ts'
import { answerUpgrade } from '../kube/upgrade/answer-upgrade.ts'
import { wantedUpgrade } from '../kube/upgrade/upgrade-headers.ts'
import type { ServeHttps, ServingOptions, ServingPair } from './serving.ts'

/** TLS record: alert, fatal, internal_error(80). node would send handshake_failure(40), which hides the cause (H-5). */
const internalError = Buffer.from([0x15, 3, 3, 0, 2, 2, 80])
/** Milliseconds a client may stay silent before it gets that alert. */
const refusalPatience = 10_000

/** The real HTTPS server, over node:https. */
export const serveHttps: ServeHttps = async options => {
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
    (request, response) => void answer(options, request, response).catch(() => response.destroy()),
  )
  const refused = new Set<Socket>()
  const upgraded = new Set<Duplex>()
  guardConnections(server, options, refused)
  server.on('upgrade', (request, connection, head) => {
    upgraded.add(connection)
    connection.once('close', () => upgraded.delete(connection))
    upgrade(options, request, connection, head).catch(() => connection.destroy())
  })
  await listening(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of [...refused, ...upgraded]) socket.destroy()
      server.closeAllConnections()
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
function guardConnections(server: Server, options: ServingOptions, refused: Set<Socket>): void {
  const accept = server.listeners('connection')
  server.removeAllListeners('connection')
  let inUse: ServingPair | undefined
  server.on('connection', (socket: Socket) => {
    const pair = options.getCertificate()
    if (!pair) return refuse(socket, refused)
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
  const remoteAddress = socket.remoteAddress ?? ''
  const certificates = socket instanceof TLSSocket ? presentedChain(socket.getPeerCertificate(true)) : []
  return certificates.length === 0 ? { remoteAddress } : { remoteAddress, certificates }
}

/** The DER of what the client presented, leaf first; node links it to itself at the end. */
function presentedChain(leaf: DetailedPeerCertificate | undefined): Uint8Array[] {
  const chain: Uint8Array[] = []
  let certificate = leaf
  while (certificate?.raw) {
    chain.push(new Uint8Array(certificate.raw))
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate
    if (issuer === certificate) break
    certificate = issuer
  }
  return chain
}
