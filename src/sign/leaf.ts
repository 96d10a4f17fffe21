import { formatTime } from '../kube/time-format.ts'
import type { Certificate } from '../x509/certificate.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { formatIp } from '../x509/ip.ts'
import { commonName, formatName } from '../x509/name.ts'

/** What is remembered of a certificate that was signed, for as long as it lives. */
export interface Leaf {
  /** Hexadecimal, lower case, whole bytes. */
  serialNumber: string
  /** The issuing CA's subject, as Go prints it. */
  issuer: string
  /** SHA-256 of the issuing CA's DER, hexadecimal. */
  issuerFingerprint: string
  signerName: string
  /** The common name, which Kubernetes takes for the user: `system:node:NAME` for a node. */
  holder: string
  dnsNames: readonly string[]
  /** As Go prints them. */
  ipAddresses: readonly string[]
  /** Milliseconds since the epoch, whole seconds. */
  notBefore: number
  notAfter: number
  /** SHA-256 of the SubjectPublicKeyInfo, hexadecimal. */
  publicKeyHash: string
  /** metadata of the CertificateSigningRequest, which is deleted long before the certificate ends (C-40). */
  request: { readonly name: string }
}

/** Milliseconds that a leaf is kept after it ended. */
const keptAfterEnd = 86_400_000

/** A ledger has no use any more for leaves that ended before this time. All in milliseconds since the epoch. */
export function forgottenBefore(now: number): number {
  return now - keptAfterEnd
}

/** `issuerFingerprint`: SHA-256 of the CA's DER; the certificate itself names its CA only by subject and key. */
export function leafOf(
  certificate: Certificate,
  from: Pick<Leaf, 'issuerFingerprint' | 'signerName' | 'request'>,
): Leaf {
  const { subjectAltName, notBefore, notAfter } = certificate
  return {
    serialNumber: Buffer.from(certificate.serialNumber).toString('hex'),
    issuer: formatName(certificate.issuer),
    issuerFingerprint: from.issuerFingerprint,
    signerName: from.signerName,
    holder: commonName(certificate.subject),
    dnsNames: subjectAltName.dnsNames,
    ipAddresses: subjectAltName.ipAddresses.map(formatIp),
    notBefore,
    notAfter,
    publicKeyHash: sha256Hex(certificate.spki),
    request: from.request,
  }
}

/** One line of JSON, all of the leaf but its serial number, which ledgers file it under; about 400 bytes. */
export function encodeLeaf(leaf: Leaf): string {
  return JSON.stringify({
    holder: leaf.holder,
    signer: leaf.signerName,
    dns: leaf.dnsNames,
    ips: leaf.ipAddresses,
    from: formatTime(leaf.notBefore),
    until: formatTime(leaf.notAfter),
    request: leaf.request.name,
    issuer: leaf.issuer,
    ca: leaf.issuerFingerprint,
    key: leaf.publicKeyHash,
  })
}

/** The leaf that `encodeLeaf` wrote; undefined when the line is something else. */
export function decodeLeaf(serialNumber: string, line: string): Leaf | undefined {
  const fields = fieldsOf(line)
  const { holder, signer, dns, ips, from, until, request, issuer, ca, key } = fields ?? {}
  const notBefore = typeof from === 'string' ? Date.parse(from) : Number.NaN
  const notAfter = typeof until === 'string' ? Date.parse(until) : Number.NaN
  const readable =
    isText(holder) &&
    isText(signer) &&
    isTexts(dns) &&
    isTexts(ips) &&
    Number.isFinite(notBefore) &&
    Number.isFinite(notAfter) &&
    isText(request) &&
    isText(issuer) &&
    isText(ca) &&
    isText(key)
  if (!readable) return undefined
  return {
    serialNumber,
    issuer,
    issuerFingerprint: ca,
    signerName: signer,
    holder,
    dnsNames: dns,
    ipAddresses: ips,
    notBefore,
    notAfter,
    publicKeyHash: key,
    request: { name: request },
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)

function fieldsOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    // What is no JSON was not written by a ledger; the caller says where it stands.
    return undefined
  }
}
