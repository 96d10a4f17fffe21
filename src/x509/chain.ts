import type { Certificate } from './certificate.ts'
import { unhandledCriticalExtension } from './certificate-extensions.ts'
import { findExtension } from './extension.ts'
import { commonName, organizations } from './name.ts'
import { whyNotPermitted } from './name-constraints.ts'
import { oids } from './oid.ts'
import { serialDecimal } from './serial-number.ts'
import { checkSignatureOnce } from './signature-once.ts'

/** Whether a certificate may be relied on; `reason` is Go's error text. */
export type Verification = { ok: true } | { ok: false; reason: string }

export interface VerifyOptions {
  /** Milliseconds since the epoch. */
  now: number
  usage: 'clientAuth' | 'serverAuth'
}

interface Search {
  intermediates: readonly Certificate[]
  roots: readonly Certificate[]
  options: VerifyOptions
  /** Signature checks left: Go gives up after 100, so a hostile chain cannot burn time. */
  checksLeft: number
}

const maximumSignatureChecks = 100

/**
 * Verifies the first certificate of `chain` against `roots`, with the rest of the chain as intermediates, as Go's
 * Certificate.Verify does: unknown critical extensions, validity, path length, CA flag and keyUsage of issuers,
 * names as raw bytes, name constraints, signatures, extended key usage along the whole path. No revocation.
 */
export function verifyChain(
  chain: readonly Certificate[],
  roots: readonly Certificate[],
  options: VerifyOptions,
): Verification {
  const [leaf, ...intermediates] = chain
  if (leaf === undefined) return refuse('x509: no certificate')
  const invalid = whyInvalid(leaf, 'leaf', [], options.now)
  if (invalid !== undefined) return refuse(invalid)
  const search: Search = { intermediates, roots, options, checksLeft: maximumSignatureChecks }
  const trusted = roots.some(root => sameBytes(root.raw, leaf.raw))
  const found = trusted ? { chains: [[leaf]] } : buildChains([leaf], search)
  if (found.chains.length === 0) return refuse(found.reason ?? unknownAuthority)
  const usable = found.chains.some(path => allowsUsage(path, oids[options.usage]))
  return usable ? { ok: true } : refuse('x509: certificate specifies an incompatible key usage')
}

interface Found {
  chains: Certificate[][]
  /** Why there is none. */
  reason?: string
}

const unknownAuthority = 'x509: certificate signed by unknown authority'

function buildChains(path: Certificate[], search: Search): Found {
  const child = path.at(-1)
  if (child === undefined) return { chains: [] }
  const chains: Certificate[][] = []
  let hint: string | undefined
  let failure: string | undefined
  const consider = (kind: 'root' | 'intermediate', candidate: Certificate) => {
    if (path.some(member => isSameEntity(member, candidate))) return
    if (search.checksLeft-- <= 0) {
      failure = 'x509: signature check attempts limit reached while verifying certificate chain'
      return
    }
    const reason = whyNotSignedBy(child, candidate) ?? whyInvalid(candidate, kind, path, search.options.now)
    if (reason !== undefined) {
      hint ??= candidateHint(reason, candidate)
      return
    }
    if (kind === 'root') chains.push([...path, candidate])
    else {
      const further = buildChains([...path, candidate], search)
      chains.push(...further.chains)
      failure = further.reason
    }
  }
  for (const root of possibleIssuers(child, search.roots)) consider('root', root)
  for (const intermediate of possibleIssuers(child, search.intermediates))
    consider('intermediate', intermediate)
  if (chains.length > 0) return { chains }
  return { chains, reason: failure ?? `${unknownAuthority}${hint ?? ''}` }
}

/** Certificates whose subject is the child's issuer byte for byte; those whose key identifier matches come first. */
function possibleIssuers(child: Certificate, pool: readonly Certificate[]): Certificate[] {
  const rank = ({ subjectKeyIdentifier }: Certificate) => {
    if (sameBytes(subjectKeyIdentifier ?? none, child.authorityKeyIdentifier ?? none)) return 0
    return subjectKeyIdentifier === undefined || child.authorityKeyIdentifier === undefined ? 1 : 2
  }
  return pool
    .filter(issuer => sameBytes(issuer.subject.raw, child.issuer.raw))
    .toSorted((a, b) => rank(a) - rank(b))
}

const none = new Uint8Array()

/** Go's CheckSignatureFrom. */
function whyNotSignedBy(child: Certificate, parent: Certificate): string | undefined {
  const cannotSign = 'x509: invalid signature: parent certificate cannot sign this kind of certificate'
  if (parent.version === 3 ? !parent.basicConstraints?.ca : parent.basicConstraints?.ca === false)
    return cannotSign
  if (parent.keyUsage !== undefined && parent.keyUsage.length > 0 && !parent.keyUsage.includes('keyCertSign'))
    return cannotSign
  const check = checkSignatureOnce(child, parent)
  return check.ok ? undefined : check.reason
}

/** Go's isValid: what speaks against the certificate at this place of the path. */
function whyInvalid(
  certificate: Certificate,
  kind: 'leaf' | 'intermediate' | 'root',
  path: readonly Certificate[],
  now: number,
): string | undefined {
  if (unhandledCriticalExtension(certificate) !== undefined) return 'x509: unhandled critical extension'
  const outside = whyOutsideValidity(certificate, now)
  if (outside !== undefined) return outside
  const notPermitted = kind === 'leaf' ? undefined : whyNamesNotPermitted(certificate, path)
  if (notPermitted !== undefined) return notPermitted
  const constraints = certificate.basicConstraints
  if (kind === 'intermediate' && !constraints?.ca) {
    return 'x509: certificate is not authorized to sign other certificates'
  }
  if (constraints?.pathLength !== undefined && path.length - 1 > constraints.pathLength) {
    return 'x509: too many intermediates for path length constraint'
  }
  return undefined
}

function whyNamesNotPermitted(
  { nameConstraints }: Certificate,
  path: readonly Certificate[],
): string | undefined {
  if (nameConstraints === undefined) return undefined
  const reasons = path.map(member => whyNotPermitted(nameConstraints, member.subjectAltName))
  return reasons.find(reason => reason !== undefined)
}

function whyOutsideValidity({ notBefore, notAfter }: Certificate, now: number): string | undefined {
  const expired = 'x509: certificate has expired or is not yet valid: current time'
  if (now < notBefore) return `${expired} ${rfc3339(now)} is before ${rfc3339(notBefore)}`
  if (now > notAfter) return `${expired} ${rfc3339(now)} is after ${rfc3339(notAfter)}`
  return undefined
}

function rfc3339(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** Every certificate of the path that lists extended key usages must list this one or any. */
function allowsUsage(path: readonly Certificate[], usage: string): boolean {
  return path.every(({ extendedKeyUsage: usages = [] }) => {
    return usages.length === 0 || usages.includes(usage) || usages.includes(oids.anyExtendedKeyUsage)
  })
}

/** Go's alreadyInChain: same subject, key and names make a loop, whatever else differs. */
function isSameEntity(a: Certificate, b: Certificate): boolean {
  const san = (of: Certificate) => findExtension(of.extensions, oids.subjectAltName)?.value ?? none
  return sameBytes(a.subject.raw, b.subject.raw) && sameBytes(a.spki, b.spki) && sameBytes(san(a), san(b))
}

function candidateHint(reason: string, { subject, serialNumber }: Certificate): string {
  const name = commonName(subject) || organizations(subject)[0] || `serial:${serialDecimal(serialNumber)}`
  const because = `possibly because of ${JSON.stringify(reason)}`
  return ` (${because} while trying to verify candidate authority certificate ${JSON.stringify(name)})`
}

function refuse(reason: string): Verification {
  return { ok: false, reason }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
