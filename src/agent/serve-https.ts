import { constants } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { RollcallError, systemCode } from '../errors.ts'
import type { ApiResponse, Peer } from '../kube/transport.ts'
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
    },
    (request, response) => void answer(options, request, response).catch(() => response.destroy()),
  )
  const refused = new Set<Socket>()
  guardConnections(server, options, refused)
  await listening(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of refused) socket.destroy()
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
  const { status, headers, body } = await options.handle(
    { method: request.method ?? 'GET', url: request.url ?? '/', headers: headersOf(request) },
    peerOf(request),
  )
  const whole = await wholeBody(body)
  response.writeHead(status, { ...headers, 'content-length': whole.length })
  response.end(whole)
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

async function wholeBody(body: ApiResponse['body']): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
