import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Peer } from '../../kube/transport.ts'

/** A chain may be as long as this; a longer one is cut. */
const LONGEST_CHAIN = 10

/**
 * Who is at the other end: address and presented certificate chain, DER, leaf first. Nothing is verified here: access
 * does that for each request, so that a CA that is no longer trusted ends old connections too.
 */
export function peerOf(socket: TLSSocket): Peer {
  const remoteAddress = socket.remoteAddress ?? ''
  const certificates = chainOf(socket)
  return certificates.length > 0 ? { certificates, remoteAddress } : { remoteAddress }
}

function chainOf(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = []
  // Without a certificate Node gives an empty object, or null when the socket is gone.
  let next: Partial<DetailedPeerCertificate> | null = socket.getPeerCertificate(true)
  while (next?.raw && chain.length < LONGEST_CHAIN) {
    chain.push(new Uint8Array(next.raw))
    // A self-signed certificate is its own issuer.
    next = next.issuerCertificate === next ? null : (next.issuerCertificate ?? null)
  }
  return chain
}
