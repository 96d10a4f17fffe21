/** Which chain a connection is served with: chosen before its handshake, by where it comes from or by the name it asks for. */
import { constants } from 'node:crypto'
import type { Http2SecureServer } from 'node:http2'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'
import type { Secret } from '../../keys/secret.ts'

/** A certificate, PEM with what follows it, and its key. The same object stands for the same chain. */
export interface ServedChain {
  /** Told of each request (Peer.chain). */
  id: string
  certificate: string
  key: Secret
  /** Sessions that began with it may be resumed. Not where a handshake is to prove something: a resumed one proves nothing. */
  resumable?: boolean
}

export interface ChainChoice {
  /** Asked at each new connection. */
  forConnection(remoteAddress: string): ServedChain
  /** Asked where the client names the server; undefined: as for any connection. */
  forName(name: string): ServedChain | undefined
  /** PEM of the CAs whose names are sent to clients that look for a certificate to present. */
  clientCertificateAuthorities(): string
  /** A connection has ended; whether anything was asked on it. */
  ended?(remoteAddress: string, id: string, asked: boolean): void
}

export interface ChosenChains {
  /** Begins: to be called before anybody else listens for connections. */
  guard(server: Http2SecureServer): void
  contextFor(name: string): SecureContext | undefined
  /** Id of the chain that this connection, on which something is asked, was served with. */
  of(socket: TLSSocket): string | undefined
  /** No session from before is resumed from the next connection on. */
  endSessions(): void
}

/** Seconds for which a session can be resumed: as long a client may go on as who it was before its certificate was renewed. */
const sessionTimeout = 300

/**
 * The context is set just before the connection is handed to the TLS of the server, which takes the one in force at that
 * moment: so a choice needs no server name, and handshakes under way keep theirs. Each context makes ticket keys of its own,
 * so that another chain, or other CAs of clients, end all sessions that began before.
 */
export function chooseChains(choice: ChainChoice): ChosenChains {
  /** By both ends' address and port, since a TLS socket does not tell the socket it was made of. */
  const chosen = new Map<string, string>()
  const asked = new Set<string>()
  const contexts = new WeakMap<ServedChain, { authorities: string; context: SecureContext }>()
  let inForce: { chain: ServedChain; authorities: string } | undefined

  const options = ({ certificate, key, resumable }: ServedChain, authorities: string) => ({
    cert: certificate,
    key: key.reveal(),
    ca: authorities,
    minVersion: 'TLSv1.2' as const,
    sessionTimeout,
    secureOptions: resumable ? 0 : constants.SSL_OP_NO_TICKET,
  })

  function choose(server: Http2SecureServer, socket: Socket): void {
    const chain = choice.forConnection(socket.remoteAddress ?? '')
    const authorities = choice.clientCertificateAuthorities()
    if (inForce?.chain !== chain || inForce.authorities !== authorities) {
      server.setSecureContext(options(chain, authorities))
      inForce = { chain, authorities }
    }
    const key = keyOf(socket)
    const { remoteAddress = '' } = socket
    chosen.set(key, chain.id)
    socket.once('close', () => {
      chosen.delete(key)
      choice.ended?.(remoteAddress, chain.id, asked.delete(key))
    })
  }

  return {
    guard(server) {
      const accept = server.listeners('connection')
      server.removeAllListeners('connection')
      server.on('connection', (socket: Socket) => {
        choose(server, socket)
        for (const listener of accept) listener.call(server, socket)
      })
    },
    contextFor(name) {
      const chain = choice.forName(name)
      if (!chain) return undefined
      const authorities = choice.clientCertificateAuthorities()
      const known = contexts.get(chain)
      if (known?.authorities === authorities) return known.context
      const context = createSecureContext(options(chain, authorities))
      contexts.set(chain, { authorities, context })
      return context
    },
    of(socket) {
      const { servername } = socket as { servername?: unknown }
      // By whatever name a session is resumed, no certificate is shown.
      const asksByName = typeof servername === 'string' && !socket.isSessionReused()
      const named = asksByName ? choice.forName(servername) : undefined
      const key = keyOf(socket)
      if (chosen.has(key)) asked.add(key)
      return named?.id ?? chosen.get(key)
    },
    endSessions() {
      inForce = undefined
    },
  }
}

function keyOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`
}
