import type { CertificateRequest } from '../x509/request.ts'
import { canonicalDns, canonicalIp } from './canonical-name.ts'

export type RequestedSan =
  | { kind: 'DNS'; shown: string; canonical: string }
  | { kind: 'IP'; shown: string; canonical: string; bytes: Uint8Array }

/**
 * The DNS names and IP addresses asked for, each once (a repeated entry is the same set), names before addresses and
 * sorted: the order in which they were written must not decide which one a verdict names.
 */
export function requestedSans({ subjectAltName }: CertificateRequest): RequestedSan[] {
  const names = new Map<string, RequestedSan>()
  for (const name of subjectAltName.dnsNames.toSorted()) {
    const canonical = canonicalDns(name)
    if (!names.has(canonical))
      names.set(canonical, { kind: 'DNS', shown: `DNS ${JSON.stringify(name)}`, canonical })
  }
  const addresses = new Map<string, RequestedSan>()
  for (const bytes of subjectAltName.ipAddresses) {
    const canonical = canonicalIp(bytes)
    addresses.set(canonical, { kind: 'IP', shown: `IP ${canonical}`, canonical, bytes })
  }
  return [...sorted(names), ...sorted(addresses)]
}

function sorted(sans: Map<string, RequestedSan>): RequestedSan[] {
  return [...sans.values()].sort((a, b) => (a.canonical < b.canonical ? -1 : 1))
}
