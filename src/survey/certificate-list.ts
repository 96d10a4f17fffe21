import { formatTime } from '../kube/time-format.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { formatName } from '../x509/name.ts'
import { serialDecimal } from '../x509/serial-number.ts'
import type { KnownCertificate } from './cluster-survey.ts'
import { nodeOfSubject } from './node-identity.ts'
import { readIssued } from './request-facts.ts'
import { namesIn } from './requested-names.ts'

export interface ListedCertificate extends KnownCertificate {
  signerName: string
  /** The subject, as Go prints it. */
  subject: string
  node?: string
  /** SANs in the form `DNS a`, `IP 10.0.0.1`. */
  names: string[]
}

/**
 * Every certificate that a request still holds, the one that ends first at the top. Kubernetes deletes requests an hour
 * after they were answered (C-40), so this is what was issued lately, not all that is in use. `now` in milliseconds.
 */
export function listCertificates(
  requests: readonly CertificateSigningRequest[],
  now: number,
): ListedCertificate[] {
  return requests
    .flatMap(csr => {
      const issued = readIssued(csr)
      if (!issued?.ok) return []
      const { subject, issuer, serialNumber, notBefore, notAfter, subjectAltName } = issued.value
      const node = nodeOfSubject(subject)
      return {
        request: csr.metadata.name,
        signerName: csr.spec.signerName,
        subject: formatName(subject),
        ...(node !== undefined && { node }),
        names: namesIn(subjectAltName),
        serialNumber: serialDecimal(serialNumber),
        issuer: formatName(issuer),
        notBefore: formatTime(notBefore),
        notAfter: formatTime(notAfter),
        expired: now > notAfter,
        used: (now - notBefore) / (notAfter - notBefore),
      }
    })
    .sort((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))
}
