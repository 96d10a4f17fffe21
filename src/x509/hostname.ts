import type { Certificate } from './certificate.ts'
import type { Verification } from './chain.ts'
import { findExtension } from './extension.ts'
import { formatIp, parseIp, sameIp } from './ip.ts'
import { commonName } from './name.ts'
import { oids } from './oid.ts'

/** Go stops listing names from here on. */
const maximumNamesListed = 100

/**
 * Whether a server certificate is good for the host, as Go's VerifyHostname (H-6): a DNS name, or an IP address with or
 * without brackets. The common name never counts. Verify the chain apart from this.
 */
export function verifyHostname(certificate: Certificate, host: string): Verification {
  const bare = host.length >= 3 && host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  const ip = parseIp(bare)
  if (ip !== undefined) {
    const matches = certificate.subjectAltName.ipAddresses.some(address => sameIp(address, ip))
    return matches ? { ok: true } : { ok: false, reason: whyNoMatch(certificate, bare) }
  }
  const matches = certificate.subjectAltName.dnsNames.some(name => matchesName(name, host))
  return matches ? { ok: true } : { ok: false, reason: whyNoMatch(certificate, host) }
}

function matchesName(pattern: string, host: string): boolean {
  if (isHostname(host.toLowerCase(), false) && isHostname(pattern, true)) return matchesPattern(pattern, host)
  const empty = (name: string) => name === '' || name === '.'
  return !empty(pattern) && !empty(host) && lowerAscii(pattern) === lowerAscii(host)
}

/** Go's validHostname: what wildcards and trailing dots are honoured for. */
function isHostname(text: string, isPattern: boolean): boolean {
  const name = isPattern ? text : withoutTrailingDot(text)
  if (name === '' || name === '*') return false
  return name
    .split('.')
    .every(
      (label, i) => (isPattern && i === 0 && label === '*') || /^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(label),
    )
}

function matchesPattern(pattern: string, host: string): boolean {
  const wanted = lowerAscii(pattern).split('.')
  const given = lowerAscii(withoutTrailingDot(host)).split('.')
  return (
    wanted.length === given.length &&
    wanted.every((label, i) => (i === 0 && label === '*') || label === given[i])
  )
}

function whyNoMatch(certificate: Certificate, host: string): string {
  const { dnsNames, ipAddresses } = certificate.subjectAltName
  const hasSan = findExtension(certificate.extensions, oids.subjectAltName) !== undefined
  if (!hasSan && matchesPattern(commonName(certificate.subject), host)) {
    return 'x509: certificate relies on legacy Common Name field, use SANs instead'
  }
  const isIp = parseIp(host) !== undefined
  if (isIp && ipAddresses.length === 0) {
    return `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
  }
  const names = isIp ? ipAddresses.map(formatIp) : dnsNames
  if (names.length >= maximumNamesListed) {
    return `x509: certificate is valid for ${names.length} ${isIp ? 'IP SANs' : 'names'}, but none matched ${host}`
  }
  if (names.join('') === '')
    return `x509: certificate is not valid for any names, but wanted to match ${host}`
  return `x509: certificate is valid for ${names.join(', ')}, not ${host}`
}

function withoutTrailingDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, letter => letter.toLowerCase())
}
