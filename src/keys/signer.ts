import type { SignatureAlgorithm } from '../x509/algorithms.ts'

/** Where a private key signs: file, PKCS#11 token, TPM, remote service. One interface for all. */
export interface Signer {
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array
  /** The algorithm that `sign` uses. */
  readonly algorithm: SignatureAlgorithm
  /** Signs the bytes of a to-be-signed structure; the signature as X.509 carries it (ECDSA: DER of r and s). */
  sign(tbs: Uint8Array): Promise<Uint8Array>
}
