import { isIP } from 'node:net'
import { connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import type { Served } from '../doctor/artifacts/endpoint-artifacts.ts'
import type { LookAtTls } from '../doctor/gather/ports.ts'

/** Milliseconds; a machine that is off answers nothing. */
const timeout = 5000

/**
 * A handshake over TCP that trusts anybody and sends nothing else. TLS 1.3 lets the client finish before the server has
 * said that it has no certificate, so the socket is kept until the certificate is there or the alert came.
 */
export const lookAtTls: LookAtTls = ({ host, port, servername }) =>
  new Promise<Served>(resolve => {
    const name = servername ?? (isIP(host) ? undefined : host)
    const socket = connect({
      host,
      port,
      rejectUnauthorized: false,
      ...(name && { servername: name }),
    })
    const finish = (found: Pick<Served, 'chain' | 'failure'>) => {
      socket.destroy()
      resolve({ host, port, ...found })
    }
    socket.setTimeout(timeout, () => finish({ chain: [], failure: `no answer in ${timeout / 1000} s` }))
    socket.once('secureConnect', () => finish({ chain: chainOf(socket) }))
    socket.once('error', error => finish({ chain: [], failure: failureText(error) }))
    socket.once('end', () => finish({ chain: [], failure: 'the connection was closed during the handshake' }))
  })

/** DER in base64, leaf first. Node links the chain in a circle at a self-signed end. */
function chainOf(socket: TLSSocket): string[] {
  const chain: string[] = []
  const seen = new Set<string>()
  let next: Partial<DetailedPeerCertificate> | undefined = socket.getPeerCertificate(true)
  while (next?.raw && !seen.has(next.fingerprint256 ?? '')) {
    seen.add(next.fingerprint256 ?? '')
    chain.push(next.raw.toString('base64'))
    next = next.issuerCertificate
  }
  return chain
}

/** `remote error: tls: internal error`, as Go's clients say it, for an alert; else what the system says. */
function failureText(error: Error): string {
  const alert = /alert ([a-z ]+):/.exec(error.message)?.[1]
  return alert === undefined ? error.message.trim() : `remote error: tls: ${alert}`
}
