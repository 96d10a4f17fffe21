import { constants, verify } from 'node:crypto'
import { systemCode } from '../errors.ts'
import { algorithmFacts, isKnownAlgorithm } from './algorithms.ts'
import { bufferOf, importPublicKey } from './public-key.ts'

/** Whether a signature holds; `reason` is Go's error text. */
export type SignatureCheck = { ok: true } | { ok: false; reason: string }

export interface SignedBytes {
  tbs: Uint8Array
  /** As `signatureAlgorithmName` gives it. */
  signatureAlgorithm: string
  signature: Uint8Array
}

export interface VerifyingKey {
  spki: Uint8Array
  keyType: string
}

/**
 * Checks a signature the way Go's crypto/x509 does: MD5 never, SHA-1 only where `allowSha1` (Go allows it for requests,
 * not for certificates), RSA keys from 1024 bits on, algorithm and key of the same family.
 */
export function checkSignature(signed: SignedBytes, by: VerifyingKey, allowSha1 = false): SignatureCheck {
  const name = signed.signatureAlgorithm
  const unsupported = 'x509: cannot verify signature: algorithm unimplemented'
  if (!isKnownAlgorithm(name)) return { ok: false, reason: unsupported }
  const { key, digest, go, parameters } = algorithmFacts(name)
  if (digest === 'md5' || (digest === 'sha1' && !allowSha1)) {
    return { ok: false, reason: `x509: cannot verify signature: insecure algorithm ${go}` }
  }
  const family = keyFamily(by.keyType)
  if (family === undefined) return { ok: false, reason: unsupported }
  if (family.name !== key) {
    const reason = `x509: signature algorithm specifies an ${key} public key, but have public key of type ${family.go}`
    return { ok: false, reason }
  }
  if (key === 'RSA' && rsaBits(by.keyType) < 1024) {
    return { ok: false, reason: `crypto/rsa: ${rsaBits(by.keyType)}-bit keys are insecure` }
  }
  const valid = verifyOrRefuse(() => verifyBytes(signed, by, digest, parameters === 'pss'))
  return valid ? holds : { ok: false, reason: failures[key] }
}

const holds: SignatureCheck = { ok: true }

const failures = {
  ECDSA: 'x509: ECDSA verification failure',
  Ed25519: 'x509: Ed25519 verification failure',
  RSA: 'crypto/rsa: verification error',
} as const

/** OpenSSL throws for keys and signatures it will not even try (a modulus beyond 16384 bits); such a signature is not valid. */
function verifyOrRefuse(verifyIt: () => boolean): boolean {
  try {
    return verifyIt()
  } catch (error) {
    const fromOpenSsl = systemCode(error)?.startsWith('ERR_OSSL') ?? false
    if (!fromOpenSsl) throw error
    return false
  }
}

function verifyBytes(
  signed: SignedBytes,
  by: VerifyingKey,
  digest: string | undefined,
  pss: boolean,
): boolean {
  const key = verifyingKey(signed, by)
  if (!pss) return verify(digest, signed.tbs, key, signed.signature)
  const options = {
    ...key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }
  return verify(digest, signed.tbs, options, signed.signature)
}

/** A request's own key verifies once, so no key object is made of it that would have to be kept and freed again. */
function verifyingKey(signed: SignedBytes, by: VerifyingKey) {
  if (!Object.is(signed, by)) return { key: importPublicKey(by.spki) }
  return { key: bufferOf(by.spki), format: 'der', type: 'spki' } as const
}

function keyFamily(keyType: string): { name: string; go: string } | undefined {
  if (keyType.startsWith('P-')) return { name: 'ECDSA', go: '*ecdsa.PublicKey' }
  if (keyType.startsWith('RSA-')) return { name: 'RSA', go: '*rsa.PublicKey' }
  if (keyType === 'Ed25519') return { name: 'Ed25519', go: 'ed25519.PublicKey' }
  return undefined
}

function rsaBits(keyType: string): number {
  return Number(keyType.slice('RSA-'.length))
}
