import type { DetailedPeerCertificate } from 'node:tls'

/** The DER of what the other side presented, leaf first; node links it to itself at the end. */
export function presentedChain(leaf: DetailedPeerCertificate | undefined): Uint8Array[] {
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
