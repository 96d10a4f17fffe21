/** Evidence below all levels: the node's certificate names it already. It tells a renewal from a new claim, no more. */
import type { EvidenceProvider } from './provider.ts'

/** Which nodes hold a certificate for which names and addresses (canonical form). */
export interface CertifiedAddresses {
  /** Certificates that are valid at `now` (milliseconds since the epoch), and requests approved but not issued yet. */
  holders(canonical: string, now: number): readonly CertifiedHolder[]
  /** The same by the key, as SHA-256 of its SubjectPublicKeyInfo in hexadecimal. */
  keyHolders?(keyHash: string, now: number): readonly CertifiedHolder[]
}

export interface CertifiedHolder {
  nodeName: string
  /** Milliseconds since the epoch; Infinity while the certificate is not issued yet. */
  until: number
}

export function liveCertificateEvidence(
  certified: CertifiedAddresses | undefined,
  now: number,
): EvidenceProvider {
  const holders = (canonical: string) => certified?.holders(canonical, now) ?? []
  return {
    name: 'live certificates',
    level: 'LiveCertificate',
    evidence(nodeName, sans) {
      const held = sans.filter(({ canonical }) =>
        holders(canonical).some(holder => holder.nodeName === nodeName),
      )
      return {
        proven: new Map(held.map(({ canonical }) => [canonical, `live certificate of node ${nodeName}`])),
      }
    },
    holders: canonical => holders(canonical).map(({ nodeName }) => nodeName),
  }
}
