import { keyMatches, loadSigner } from '../../keys/private-key.ts'
import type { ConnectionConfig } from '../../kube/transport.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { verifyChain } from '../../x509/chain.ts'
import { verifyHostname } from '../../x509/hostname.ts'

/** Certificates live a day in a simulation of years: forget rather than grow. */
const MOST_REMEMBERED = 2_000

/**
 * What TLS handshakes decide, without their bytes: whether the client trusts the server's certificate, and which chain
 * the server sees of the client. Signatures are really verified; that a chain is good is remembered until one of its
 * certificates ends, so a day of requests costs one verification.
 */
export class Handshakes {
  readonly #parsed = new Map<string, readonly Certificate[]>()
  /** For how long (ms since the epoch) which chain of the server is known to be good for a connection. */
  readonly #good = new WeakMap<ConnectionConfig, { chainPem: string; from: number; until: number }>()

  /** Why a client at `now` (its own clock, ms) refuses the server's chain, in Go's words; '' when it trusts it. */
  refusalOfServer(chainPem: string, config: ConnectionConfig, now: number): string {
    if (config.insecureSkipTlsVerify) return ''
    const known = this.#good.get(config)
    if (known?.chainPem === chainPem && known.from <= now && now <= known.until) return ''
    const host = config.tlsServerName ?? new URL(config.server).hostname
    const chain = this.#certificates(chainPem)
    const roots = this.#certificates(config.certificateAuthority ?? '')
    const verdict = verifyChain(chain, roots, { now, usage: 'serverAuth' })
    const fit = verdict.ok && chain[0] ? verifyHostname(chain[0], host) : verdict
    if (!fit.ok) return `tls: failed to verify certificate: ${fit.reason}`
    // Until the next of these moments no certificate begins or ends, so the verdict stays.
    const moments = [...chain, ...roots].flatMap(({ notBefore, notAfter }) => [notBefore, notAfter])
    const from = Math.max(...moments.filter(moment => moment <= now))
    const until = Math.min(...moments.filter(moment => moment >= now))
    this.#good.set(config, { chainPem, from, until })
    return ''
  }

  /** The client's chain in DER, leaf first. Throws when key and certificate do not belong together, as TLS would. */
  presentedChain(pair: NonNullable<ConnectionConfig['clientCertificate']>): readonly Uint8Array[] {
    const chain = parseCertificatesPem(pair.certificate)
    const leaf = chain[0]
    if (!leaf) throw new Error('tls: failed to find any PEM data in certificate input')
    if (!keyMatches(loadSigner(pair.key), leaf)) throw new Error('tls: private key does not match public key')
    return chain.map(certificate => certificate.raw)
  }

  #certificates(pem: string): readonly Certificate[] {
    return this.#parsed.get(pem) ?? remember(this.#parsed, pem, parseCertificatesPem(pem))
  }
}

function remember<T>(cache: Map<string, T>, key: string, value: T): T {
  if (cache.size >= MOST_REMEMBERED) cache.clear()
  cache.set(key, value)
  return value
}
