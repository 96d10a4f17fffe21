import { formatTime } from '../kube/time-format.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { Leaf } from '../sign/leaf.ts'
import { formatName } from '../x509/name.ts'
import { serialDecimal } from '../x509/serial-number.ts'
import { describeLeaf, type KnownCertificate } from './cluster-survey.ts'
import { nodeOfSubject, nodeOfUser } from './node-identity.ts'
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
 * Every certificate that a request still holds or a ledger remembers, the one that ends first at the top. Kubernetes
 * deletes requests an hour after they were answered (C-40): without `leaves` this is what was issued lately, not all that
 * is in use. `now` in milliseconds.
 */
export function listCertificates(
  requests: readonly CertificateSigningRequest[],
  now: number,
  leaves: readonly Leaf[] = [],
): ListedCertificate[] {
  const held = ofRequests(requests, now)
  // Of a ledger the newest of each holder alone: what was replaced still lives, and nobody has to care when it ends.
  const newest = new Map<string, ListedCertificate>()
  for (const each of leaves.map(leaf => ofLeaf(leaf, now))) {
    const other = newest.get(holderOf(each))
    if (!other || other.notBefore < each.notBefore) newest.set(holderOf(each), each)
  }
  for (const each of held) {
    const other = newest.get(holderOf(each))
    if (other && other.notBefore <= each.notBefore) newest.delete(holderOf(each))
  }
  return [...held, ...newest.values()].sort((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))
}

const holderOf = ({ node, subject, signerName }: ListedCertificate) => `${signerName} ${node ?? subject}`

function ofLeaf(leaf: Leaf, now: number): ListedCertificate {
  const { holder, signerName, dnsNames, ipAddresses } = leaf
  const node = nodeOfUser(holder)
  return {
    ...describeLeaf(leaf, now),
    signerName,
    subject: `CN=${holder}`,
    ...(node !== undefined && { node }),
    names: [...dnsNames.map(name => `DNS ${name}`), ...ipAddresses.map(ip => `IP ${ip}`)],
  }
}

function ofRequests(requests: readonly CertificateSigningRequest[], now: number): ListedCertificate[] {
  return requests.flatMap(csr => {
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
}
