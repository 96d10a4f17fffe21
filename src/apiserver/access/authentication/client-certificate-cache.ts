import { type Certificate, parseCertificatesPem } from '../../../x509/certificate.ts'
import { sha256Hex } from '../../../x509/fingerprint.ts'
import type { Authentication } from './authentication.ts'
import { noCredential } from './authentication.ts'
import { type ClientCertificateVerdict, judgeClientCertificate } from './client-certificate.ts'

/** A fleet of ten thousand nodes in the middle of a rotation fits twice. */
const defaultCapacity = 40_000

export interface ClientCertificateAuthenticator {
  /** `now` in milliseconds since the epoch. */
  authenticate(presented: readonly Uint8Array[] | undefined, now: number): Authentication
  /** Trusts exactly these client CAs from now on (PEM). Throws X509_MALFORMED and keeps the old ones. */
  trust(pem: string): void
}

/**
 * Verifies each chain once for each set of client CAs and each span of time in which its verdict cannot change, so a
 * request of a known connection costs a look-up and a CA that leaves the bundle still refuses the next request.
 * At most `capacity` chains are remembered, so strangers with certificates of their own cannot fill the memory.
 */
export function createClientCertificateAuthenticator(
  pem: string,
  capacity = defaultCapacity,
): ClientCertificateAuthenticator {
  let roots: readonly Certificate[] = parseCertificatesPem(pem)
  const verdicts = new Map<string, ClientCertificateVerdict>()
  /** A connection gives the same array with each request; hashing it once is enough. */
  const fingerprints = new WeakMap<readonly Uint8Array[], string>()

  function fingerprintOf(presented: readonly Uint8Array[]): string {
    const known = fingerprints.get(presented)
    if (known !== undefined) return known
    const fingerprint = presented.map(der => sha256Hex(der)).join()
    fingerprints.set(presented, fingerprint)
    return fingerprint
  }

  return {
    authenticate(presented, now) {
      if (!presented || presented.length === 0) return noCredential
      const key = fingerprintOf(presented)
      const known = verdicts.get(key)
      if (known && now >= known.from && now < known.until) return known.authentication
      const verdict = judgeClientCertificate(presented, roots, now)
      verdicts.delete(key)
      verdicts.set(key, verdict)
      const [oldest] = verdicts.keys()
      if (verdicts.size > capacity && oldest !== undefined) verdicts.delete(oldest)
      return verdict.authentication
    },

    trust(next) {
      roots = parseCertificatesPem(next)
      verdicts.clear()
    },
  }
}
