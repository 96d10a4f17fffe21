import type { CertificateTemplate } from '../join/template.ts'
import type { Certificate } from '../x509/certificate.ts'
import { formatIp } from '../x509/ip.ts'
import { commonName, organizations } from '../x509/name.ts'

/**
 * What a certificate lacks of a template, as a sentence, or undefined when it satisfies it. Extra SANs and organizations
 * do not count: an address that was removed causes no rotation, one that was added does (K-34).
 */
export function lackOf(certificate: Certificate, template: CertificateTemplate): string | undefined {
  const held = commonName(certificate.subject)
  if (held !== template.commonName) {
    return `the common name is "${held}", wanted is "${template.commonName}"`
  }
  const addresses = certificate.subjectAltName.ipAddresses.map(formatIp)
  return (
    missing('organization', template.organizations, organizations(certificate.subject)) ??
    missing('DNS name', template.dnsNames, certificate.subjectAltName.dnsNames) ??
    missing('IP address', template.ipAddresses, addresses)
  )
}

function missing(what: string, wanted: readonly string[], held: readonly string[]): string | undefined {
  const absent = wanted.filter(value => !held.includes(value))
  return absent.length === 0 ? undefined : `it does not hold the ${what} ${absent.join(', ')}`
}
