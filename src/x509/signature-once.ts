import { BoundedCache } from './bounded-cache.ts'
import { sha256Base64 } from './fingerprint.ts'
import { checkSignature, type SignatureCheck, type SignedBytes, type VerifyingKey } from './signature.ts'

const verified = new BoundedCache<SignatureCheck>(10_000)

interface Answer {
  spki: Uint8Array
  allowSha1: boolean
  check: SignatureCheck
}
/** By the very bytes, which parsing shares: the next look needs not even their digest. */
const answered = new WeakMap<Uint8Array, Answer>()

/**
 * `checkSignature`, remembered by the SHA-256 of the whole signed structure and of the key: the API server verifies a
 * client's chain at every request, and a request is looked at by approver, signer and API alike.
 */
export function checkSignatureOnce(
  signed: SignedBytes & { raw: Uint8Array },
  by: VerifyingKey,
  allowSha1 = false,
): SignatureCheck {
  const known = answered.get(signed.raw)
  if (known?.spki === by.spki && known.allowSha1 === allowSha1) return known.check
  const key = `${sha256Base64(signed.raw)}${sha256Base64(by.spki)}${allowSha1 ? '1' : ''}`
  const check = verified.getOrCompute(key, () => checkSignature(signed, by, allowSha1))
  answered.set(signed.raw, { spki: by.spki, allowSha1, check })
  return check
}
