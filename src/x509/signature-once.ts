import { BoundedCache } from './bounded-cache.ts'
import { sha256Hex } from './fingerprint.ts'
import { checkSignature, type SignatureCheck, type SignedBytes, type VerifyingKey } from './signature.ts'

const verified = new BoundedCache<SignatureCheck>(10_000)

/**
 * `checkSignature`, remembered by the SHA-256 of the whole signed structure and of the key: the API server verifies a
 * client's chain at every request, and a request is looked at by approver, signer and API alike.
 */
export function checkSignatureOnce(
  signed: SignedBytes & { raw: Uint8Array },
  by: VerifyingKey,
  allowSha1 = false,
): SignatureCheck {
  const key = `${sha256Hex(signed.raw)} ${sha256Hex(by.spki)} ${allowSha1}`
  return verified.getOrCompute(key, () => checkSignature(signed, by, allowSha1))
}
