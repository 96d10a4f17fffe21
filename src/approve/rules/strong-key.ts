import type { SignatureAlgorithm } from '../../x509/algorithms.ts'
import type { ReadFacts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'

const namedKeys: readonly string[] = ['P-256', 'P-384', 'P-521', 'Ed25519']
/** Go accepts a SHA-1 signature on a request (executed); we do not (approvers 2.11, H3). */
const signatureAlgorithms = new Set<string>([
  'ecdsa-with-SHA256',
  'ecdsa-with-SHA384',
  'ecdsa-with-SHA512',
  'sha256WithRSAEncryption',
  'sha384WithRSAEncryption',
  'sha512WithRSAEncryption',
  'Ed25519',
] satisfies SignatureAlgorithm[])

/** RSA from 2048 bits (below: breakable) to 8192 (above: each verification costs the whole cluster). */
function isStrong(keyType: string): boolean {
  if (namedKeys.includes(keyType)) return true
  const bits = Number(/^RSA-(\d+)$/.exec(keyType)?.[1])
  return bits >= 2048 && bits <= 8192
}

export const strongKey: Rule<ReadFacts> = {
  name: 'StrongKey',
  sentence: 'The key is ECDSA P-256, P-384 or P-521, Ed25519, or RSA of 2048 to 8192 bits; no SHA-1.',
  check({ request }) {
    if (!isStrong(request.keyType))
      return deny('WeakKey', `key ${request.keyType} is not accepted; use ECDSA P-256`)
    if (!signatureAlgorithms.has(request.signatureAlgorithm))
      return deny('WeakKey', `signature algorithm ${request.signatureAlgorithm} is not accepted; use SHA-256`)
    return undefined
  },
}
