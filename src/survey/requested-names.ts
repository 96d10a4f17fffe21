import { formatIp } from '../x509/ip.ts'
import type { SubjectAltName } from '../x509/san.ts'

/** What GeneralName tags stand for whose values nobody shows (RFC 5280 4.2.1.6). */
const otherKinds: Record<number, string> = {
  0: 'otherName',
  3: 'x400Address',
  4: 'directoryName',
  5: 'ediPartyName',
  8: 'registeredID',
}

/** All names in the form `DNS a`, `IP 10.0.0.1`, `email a@b`, `URI spiffe://…`, in order of kind. */
export function namesIn(san: SubjectAltName): string[] {
  return [
    ...san.dnsNames.map(name => `DNS ${name}`),
    ...san.ipAddresses.map(bytes => `IP ${formatIp(bytes)}`),
    ...san.emailAddresses.map(name => `email ${name}`),
    ...san.uris.map(name => `URI ${name}`),
    ...san.others.map(tag => otherKinds[tag] ?? `name of kind ${tag}`),
  ]
}
