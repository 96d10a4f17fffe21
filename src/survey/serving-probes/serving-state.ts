import { hasCode } from '../../errors.ts'
import { type Certificate, parseCertificate } from '../../x509/certificate.ts'
import { verifyHostname } from '../../x509/hostname.ts'
import { formatName } from '../../x509/name.ts'

/** What a node serves on the port of its kubelet. `unreachable`: nothing was learnt of its certificate. */
export const servingStates = [
  'valid',
  'expired',
  'self_signed',
  'missing',
  'san_mismatch',
  'unreachable',
] as const
export type ServingState = (typeof servingStates)[number]

/** What a handshake that trusts anybody showed. */
export interface Seen {
  /** DER in base64, leaf first; empty where there was no handshake. */
  chain: readonly string[]
  failure?: string
}

/** K-71: the CA that a kubelet makes for itself alone is called `HOST-ca@SECONDS`. */
export function isKubeletSelfSigned(certificate: Certificate): boolean {
  return /^CN=.+-ca@\d+$/.test(formatName(certificate.issuer))
}

/** `host`: the address that was dialled. `now` in milliseconds since the epoch. */
export function servingState({ chain, failure }: Seen, host: string, now: number): ServingState {
  const [first] = chain
  // A kubelet that waits for its certificate answers the handshake with the alert internal_error.
  if (first === undefined) return /internal.error/i.test(failure ?? '') ? 'missing' : 'unreachable'
  const leaf = readLeaf(first)
  if (!leaf) return 'san_mismatch'
  if (isKubeletSelfSigned(leaf)) return 'self_signed'
  if (now > leaf.notAfter) return 'expired'
  return verifyHostname(leaf, host).ok ? 'valid' : 'san_mismatch'
}

/** Undefined for bytes that no client could read either: then it is for no name. */
function readLeaf(base64: string): Certificate | undefined {
  try {
    return parseCertificate(new Uint8Array(Buffer.from(base64, 'base64')))
  } catch (error) {
    if (hasCode(error, 'X509_MALFORMED') || hasCode(error, 'X509_UNSUPPORTED_KEY')) return undefined
    throw error
  }
}
