import type { CertificateSigningRequest } from '../kube/types.ts'
import { readIssuedUnkept } from '../survey/request-facts.ts'
import type { Certificate } from '../x509/certificate.ts'
import type { Name } from '../x509/name.ts'
import type { SubjectAltName } from '../x509/san.ts'

/** What the checks look at of each certificate. A whole one takes 5 KiB, and 20,000 of them are held at once. */
export type IssuedFacts = Pick<
  Certificate,
  | 'issuer'
  | 'notBefore'
  | 'notAfter'
  | 'subjectAltName'
  | 'keyType'
  | 'signatureAlgorithm'
  | 'authorityKeyIdentifier'
>

/** Issuers that were met before, by their bytes: a cluster has a CA or two. */
export interface KnownIssuers {
  names: Map<string, Name>
  keys: Map<string, Uint8Array>
}

/** Nothing of them holds on to the bytes that the certificate was read from. */
export function issuedFacts(certificate: Certificate, known: KnownIssuers): IssuedFacts {
  const { issuer, notBefore, notAfter, subjectAltName, keyType, signatureAlgorithm } = certificate
  const key = certificate.authorityKeyIdentifier
  return {
    issuer: shared(known.names, issuer.raw, raw => ({ raw, rdns: issuer.rdns })),
    notBefore,
    notAfter,
    subjectAltName: withoutSource(subjectAltName),
    keyType,
    signatureAlgorithm,
    ...(key && { authorityKeyIdentifier: shared(known.keys, key, bytes => bytes) }),
  }
}

/** The whole of what was issued, read anew. Only for a request whose `issued` is ok. */
export function wholeCertificate(csr: CertificateSigningRequest): Certificate {
  const issued = readIssuedUnkept(csr)
  if (issued?.ok) return issued.value
  throw new RangeError(`${csr.metadata.name} holds no certificate that can be read`)
}

export function withoutSource(san: SubjectAltName): SubjectAltName {
  return { ...san, ipAddresses: san.ipAddresses.map(address => address.slice()) }
}

function shared<T>(known: Map<string, T>, bytes: Uint8Array, make: (copy: Uint8Array) => T): T {
  const text = Buffer.from(bytes).toString('latin1')
  const value = known.get(text) ?? make(bytes.slice())
  known.set(text, value)
  return value
}
