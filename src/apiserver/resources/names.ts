/** What metadata.name may be, in Kubernetes' words: each rule returns its complaints, none when the name is right. */
import { dns1123SubdomainComplaints } from '../../kube/label-syntax.ts'

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** IsDNS1123Label: at most 63 characters, no dots. For namespaces, and for the parts of a domain. */
export function dns1123Label(name: string): string[] {
  const complaints: string[] = []
  if (name.length > 63) complaints.push('must be no more than 63 bytes')
  if (!label.test(name)) {
    complaints.push(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    )
  }
  return complaints
}

const label1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/

/** IsDNS1035Label: services, which are names in DNS, begin with a letter. */
export function dns1035Label(name: string): string[] {
  const complaints: string[] = []
  if (name.length > 63) complaints.push('must be no more than 63 bytes')
  if (!label1035.test(name)) {
    complaints.push(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
        "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is " +
        "'[a-z]([-a-z0-9]*[a-z0-9])?')",
    )
  }
  return complaints
}

/** IsDNS1123Subdomain: most kinds. */
export const dns1123Subdomain = dns1123SubdomainComplaints

/** IsValidPathSegmentName: kinds whose names may hold colons, as RBAC's; A-3 for CertificateSigningRequests. */
export function pathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`]
  return ['/', '%']
    .filter(forbidden => name.includes(forbidden))
    .map(forbidden => `may not contain '${forbidden}'`)
}
