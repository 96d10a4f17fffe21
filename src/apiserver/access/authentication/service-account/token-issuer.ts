/** Who signs service account tokens here, and what verifies them. */
import type { Signer } from '../../../../keys/signer.ts'
import { BoundedCache } from '../../../../x509/bounded-cache.ts'
import { sha256Hex } from '../../../../x509/fingerprint.ts'
import { jwsIsSignedBy, type ParsedJws, parseJws, requireEs256, signJws } from './json-web-signature.ts'
import { isTokenClaims, type TokenClaims } from './token-claims.ts'

/** kubeadm's --service-account-issuer. */
const defaultIssuer = 'https://kubernetes.default.svc.cluster.local'

export interface VerificationKey {
  /** As Kubernetes names keys: base64url of the SHA-256 of the SubjectPublicKeyInfo. */
  keyId: string
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
}

export interface TokenIssuer {
  readonly issuer: string
  /** Those of the API server itself, which a token has that names none. */
  readonly audiences: readonly string[]
  /** The signing key first. */
  readonly keys: readonly VerificationKey[]
  sign(claims: TokenClaims): Promise<string>
  /**
   * The claims of a token that one of the keys signed. `foreign`: it is not from this issuer, so another authenticator
   * may know it. Whether the claims hold now is another question (judge-claims.ts).
   */
  verify(token: string): { ok: true; claims: TokenClaims } | { ok: false; foreign: boolean; reason: string }
}

export interface TokenIssuerOptions {
  signer: Signer
  issuer?: string
  /** Public keys (SPKI in DER) of signers before this one, whose tokens are still good. */
  formerKeys?: readonly Uint8Array[]
}

/** Tokens come again with every request, and verifying one costs more than most requests. */
const REMEMBERED = 10_000

/** Throws RollcallError X509_UNSUPPORTED_KEY for a signer that is not ECDSA P-256. */
export function createTokenIssuer({
  signer,
  issuer = defaultIssuer,
  formerKeys = [],
}: TokenIssuerOptions): TokenIssuer {
  requireEs256(signer)
  const keys = [signer.publicKey, ...formerKeys].map(spki => ({ keyId: keyIdOf(spki), spki }))
  const [signing] = keys
  const verified = new BoundedCache<ReturnType<TokenIssuer['verify']>>(REMEMBERED)
  return {
    issuer,
    audiences: [issuer],
    keys,
    sign: claims => signJws(claims, signing?.keyId ?? '', signer),
    verify(token) {
      const jws = parseJws(token)
      if (jws?.payload.iss !== issuer)
        return { ok: false, foreign: true, reason: 'not a token of this issuer' }
      return verified.getOrCompute(sha256Hex(new TextEncoder().encode(token)), () => verifyOwn(jws, keys))
    },
  }
}

function verifyOwn(jws: ParsedJws, keys: readonly VerificationKey[]): ReturnType<TokenIssuer['verify']> {
  const refused = (reason: string) => ({ ok: false as const, foreign: false, reason })
  const known = keys.filter(({ keyId }) => jws.keyId === undefined || jws.keyId === keyId)
  if (known.length === 0) return refused('invalid signature, no keys found')
  if (!known.some(({ spki }) => jwsIsSignedBy(jws, spki))) return refused('invalid signature')
  return isTokenClaims(jws.payload)
    ? { ok: true, claims: jws.payload }
    : refused('service account token claims could not be validated due to unexpected validation error')
}

function keyIdOf(spki: Uint8Array): string {
  return Buffer.from(sha256Hex(spki), 'hex').toString('base64url')
}
