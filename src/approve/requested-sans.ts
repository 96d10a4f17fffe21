import type { CertificateRequest } from '../x509/request.ts'
import { canonicalDns, canonicalIp } from './canonical-name.ts'

export type RequestedSan =
  | { kind: 'DNS'; shown: string; canonical: string }
  | { kind: 'IP'; shown: string; canonical: string; bytes: Uint8Array }

/** The DNS names and IP addresses asked for, each once (a repeated entry is the same set). */
export function requestedSans(request: CertificateRequest): RequestedSan[] {
  const sans = new Map<string, RequestedSan>()
  for (const name of request.subjectAltName.dnsNames) {
    const canonical = canonicalDns(name)
    sans.set(`DNS ${canonical}`, { kind: 'DNS', shown: `DNS ${JSON.stringify(name)}`, canonical })
  }
  for (const bytes of request.subjectAltName.ipAddresses) {
    const canonical = canonicalIp(bytes)
    sans.set(`IP ${canonical}`, { kind: 'IP', shown: `IP ${canonical}`, canonical, bytes })
  }
  return [...sans.values()]
}
