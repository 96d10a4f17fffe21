/** Real TLS between two ends in memory: what OpenSSL says of a chain, beside what our own path check says. */
import { duplexPair } from 'node:stream'
import { connect, createSecureContext, createServer, type SecureContext, type Server } from 'node:tls'

/** PEM; the chain leaf first. */
export interface Presented {
  chain: string
  key: string
}

export interface Conversation {
  server: Presented
  /** By what the client judges the server, PEM. */
  clientTrusts: string
  client?: Presented
  /** By what the server judges the client; absent: it asks for no certificate. */
  serverTrusts?: string
}

/**
 * Whether both ends come to exchange a byte over TLS 1.3, nothing resumed. Only bytes after the handshake prove trust: a
 * Node client that distrusts sends no alert, and a TLS 1.3 client is done before the server has judged it.
 */
export function converse({ server, clientTrusts, client, serverTrusts }: Conversation): Promise<boolean> {
  const [near, far] = duplexPair()
  return new Promise(resolve => {
    const socket = connect({
      socket: near,
      secureContext: clientOf(client, clientTrusts),
      // Names are checked by our own code, of the same certificates; here it is the path that counts.
      checkServerIdentity: () => undefined,
      minVersion: 'TLSv1.3',
    })
    const end = (answer: boolean) => {
      for (const one of [socket, near, far]) one.destroy()
      resolve(answer)
    }
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
    // A server that refuses ends its own half of the pair and nothing more.
    far.on('close', () => end(false))
    socket.on('data', () => end(true))
    socket.on('secureConnect', () => socket.write('.'))
    serverOf(server, serverTrusts).emit('connection', far)
  })
}

/** Contexts are dear to make, and most of the conversations of a simulation are between a few kinds of ends. */
const clients = new Map<string, SecureContext>()
const servers = new Map<string, Server>()
const mostRemembered = 64

function clientOf(client: Presented | undefined, trusts: string): SecureContext {
  return remembered(clients, JSON.stringify([client?.chain, trusts]), () =>
    createSecureContext({ ...(client && { cert: client.chain, key: client.key }), ca: listOf(trusts) }),
  )
}

/** A server that listens nowhere: connections are handed to it. */
function serverOf({ chain, key }: Presented, trusts: string | undefined): Server {
  return remembered(servers, JSON.stringify([chain, trusts]), () => {
    const asks = trusts !== undefined
    const judging = { ca: listOf(trusts ?? ''), requestCert: asks, rejectUnauthorized: asks }
    const server = createServer({ cert: chain, key, ...judging }, socket => {
      socket.on('error', () => socket.destroy())
      socket.on('data', () => socket.write('.'))
    })
    server.on('tlsClientError', (_, socket) => socket.destroy())
    return server
  })
}

/** Without a list Node would take its own: who trusts nobody trusts an empty one. */
function listOf(trusts: string): string | string[] {
  return trusts === '' ? [] : trusts
}

function remembered<T>(known: Map<string, T>, name: string, make: () => T): T {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= mostRemembered) known.clear()
  const made = make()
  known.set(name, made)
  return made
}
