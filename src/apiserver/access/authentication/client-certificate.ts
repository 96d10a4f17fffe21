/** x509 authentication: a client certificate that chains to a client CA now is a user. */
import { RollcallError } from '../../../errors.ts'
import type { UserInfo } from '../../../kube/types.ts'
import { type Certificate, parseCertificate, verifyChain } from '../../../x509/certificate.ts'
import { sha256Hex } from '../../../x509/fingerprint.ts'
import { attributeValues, commonName, organizations } from '../../../x509/name.ts'
import { serialDecimal } from '../../../x509/serial-number.ts'
import { authenticatedUser } from '../system-identities.ts'
import { type Authentication, noCredential } from './authentication.ts'

const uidAttribute = '1.3.6.1.4.1.57683.2'

export interface ClientCertificateVerdict {
  authentication: Authentication
  /** Milliseconds since the epoch; the verdict holds in [from, until) while the client CAs stay the same. */
  from: number
  until: number
}

const error = (reason: string): Authentication => ({ outcome: 'error', reason })

/**
 * Who a presented chain (DER, leaf first) stands for. The leaf must verify against `roots` at `now` (milliseconds since
 * the epoch) with the rest as intermediates, for client authentication.
 */
export function judgeClientCertificate(
  presented: readonly Uint8Array[],
  roots: readonly Certificate[],
  now: number,
): ClientCertificateVerdict {
  const always = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }
  let chain: Certificate[]
  try {
    chain = presented.map(der => parseCertificate(der))
  } catch (cause) {
    // Bytes that cannot be read never can be. Go refuses them in the handshake already.
    if (!(cause instanceof RollcallError)) throw cause
    return { authentication: error(`parsing certificate failed: ${cause.message}`), ...always }
  }
  const [leaf] = chain
  if (!leaf) return { authentication: noCredential, ...always }
  const result = verifyChain(chain, roots, { now, usage: 'clientAuth' })
  const authentication = result.ok
    ? identify(leaf)
    : error(`verifying certificate ${identifier(leaf)} failed: ${result.reason}`)
  return { authentication, ...constantAround(now, [...chain, ...roots]) }
}

/** No certificate begins or ends to be valid between these two moments, so no verdict changes there. */
function constantAround(now: number, certificates: readonly Certificate[]): { from: number; until: number } {
  let from = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  for (const { notBefore, notAfter } of certificates) {
    for (const change of [notBefore, notAfter + 1]) {
      if (change <= now) from = Math.max(from, change)
      else until = Math.min(until, change)
    }
  }
  return { from, until }
}

/** Go's CommonNameUserConversion: CN is the name, O the groups; a certificate without CN says nothing. */
function identify(leaf: Certificate): Authentication {
  const username = commonName(leaf.subject)
  if (username === '') return noCredential
  const uids = attributeValues(leaf.subject, uidAttribute)
  if (uids.length > 1) return error(`expected 1 UID, but found multiple: ${uids.length}`)
  if (uids[0] === '') return error('UID cannot be an empty string')
  const user: UserInfo = {
    username,
    ...(uids[0] !== undefined && { uid: uids[0] }),
    groups: organizations(leaf.subject),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${sha256Hex(leaf.raw)}`] },
  }
  return { outcome: 'user', user: authenticatedUser(user) }
}

const colons = (bytes: Uint8Array | undefined) =>
  [...(bytes ?? [])].map(byte => byte.toString(16).padStart(2, '0').toUpperCase()).join(':')

function identifier(leaf: Certificate): string {
  const serial = serialDecimal(leaf.serialNumber)
  return `SN=${serial}, SKID=${colons(leaf.subjectKeyIdentifier)}, AKID=${colons(leaf.authorityKeyIdentifier)}`
}
