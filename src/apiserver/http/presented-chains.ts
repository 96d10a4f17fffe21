import type { TLSSocket } from 'node:tls'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { chainOf } from './peer.ts'

/** Bytes of chains that are remembered; a client may present any, before anybody knows who it is. */
const mostBytes = 8 * 1024 * 1024

/**
 * What clients presented behind their leaf in whole handshakes: TLS keeps the leaf alone in a session, so who resumes one
 * would lose the CAs between it and ours.
 */
export class PresentedChains {
  readonly #byLeaf = new Map<string, readonly Uint8Array[]>()
  readonly #forgotten: () => void
  #bytes = 0

  /** `forgotten` is called when chains were dropped: from then on no session from before may be resumed. */
  constructor(forgotten: () => void) {
    this.#forgotten = forgotten
  }

  /** To be called after each handshake. */
  handshake(socket: TLSSocket): void {
    if (socket.isSessionReused() || !socket.getPeerX509Certificate()?.issuerCertificate) return
    const chain = chainOf(socket)
    const [leaf, ...others] = chain
    if (!leaf || others.length === 0) return
    const key = sha256Hex(leaf)
    const known = this.#byLeaf.get(key) ?? []
    this.#byLeaf.set(key, chain)
    this.#bytes += size(chain) - size(known)
    if (this.#bytes <= mostBytes) return
    this.#byLeaf.clear()
    this.#bytes = 0
    this.#forgotten()
  }

  /** Of this connection, leaf first; empty where none was presented. */
  of(socket: TLSSocket): readonly Uint8Array[] {
    const chain = chainOf(socket)
    const [leaf] = chain
    return leaf && socket.isSessionReused() ? (this.#byLeaf.get(sha256Hex(leaf)) ?? chain) : chain
  }
}

function size(chain: readonly Uint8Array[]): number {
  return chain.reduce((sum, { length }) => sum + length, 0)
}
