/** The connections that are open, so that those of some peers can be ended. */
import type { Http2Session } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { Peer } from '../../kube/transport.ts'

interface Connection {
  socket: TLSSocket
  session: Http2Session | undefined
  /** Answers under way that have no end of their own. */
  streams: number
  retired: boolean
}

export class OpenConnections {
  readonly #open = new Map<Peer, Connection>()

  opened(peer: Peer, socket: TLSSocket, session: Http2Session | undefined): void {
    this.#open.set(peer, { socket, session, streams: 0, retired: false })
    const gone = () => this.#open.delete(peer)
    if (session) session.once('close', gone)
    else socket.once('close', gone)
  }

  /** A watch begins on the connection; the function returned ends that. */
  streaming(peer: Peer): () => void {
    const connection = this.#open.get(peer)
    if (!connection) return () => {}
    connection.streams += 1
    return () => {
      connection.streams -= 1
    }
  }

  /** Whether its next answer is to be its last. */
  isRetired(peer: Peer): boolean {
    return this.#open.get(peer)?.retired === true
  }

  /**
   * Ends connections without failing a request: what is under way is answered, HTTP/2 says goodbye, HTTP/1.1 says `close`
   * with its next answer. Watches are cut: who watches resumes. Returns how many there were.
   */
  retire(which: (peer: Peer) => boolean): number {
    const connections = this.#matching(which).filter(({ retired }) => !retired)
    for (const connection of connections) {
      connection.retired = true
      if (connection.session) connection.session.close()
      else if (connection.streams > 0) connection.socket.destroy()
    }
    return connections.length
  }

  /** Cuts connections at once: of those whose requests are refused anyhow. */
  cut(which: (peer: Peer) => boolean): void {
    for (const { session, socket } of this.#matching(which)) {
      if (session) session.destroy()
      else socket.destroy()
    }
  }

  #matching(which: (peer: Peer) => boolean): Connection[] {
    return [...this.#open].filter(([peer]) => which(peer)).map(([, connection]) => connection)
  }
}
