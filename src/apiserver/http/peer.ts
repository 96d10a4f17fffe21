import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { Peer } from '../../kube/transport.ts'

/** A chain may be as long as this; a longer one is cut. */
const LONGEST_CHAIN = 10

/**
 * Who is at the other end: address and presented certificate chain, DER, leaf first. Nothing is verified here: access
 * does that for each request, so that a CA that is no longer trusted ends old connections, and sessions that are resumed,
 * too.
 */
export function peerOf(socket: TLSSocket, certificates: readonly Uint8Array[] = chainOf(socket)): Peer {
  const remoteAddress = socket.remoteAddress ?? ''
  return certificates.length > 0 ? { certificates, remoteAddress } : { remoteAddress }
}

/** As objects of node:crypto, which read nothing but the bytes: getPeerCertificate describes each in full, for 0.2 ms. */
export function chainOf(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = []
  let next: X509Certificate | undefined = socket.getPeerX509Certificate()
  while (next && chain.length < LONGEST_CHAIN) {
    const { raw } = next
    // A self-signed certificate is its own issuer.
    if (chain.at(-1) && Buffer.compare(chain.at(-1) ?? raw, raw) === 0) break
    chain.push(new Uint8Array(raw))
    next = next.issuerCertificate
  }
  return chain
}
