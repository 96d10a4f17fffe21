import { RollcallError } from '../errors.ts'
import type { SignatureAlgorithm } from '../x509/algorithms.ts'

/** The algorithm that a key of this type (as `parsePublicKey` names it) signs with. Throws X509_UNSUPPORTED_KEY. */
export function signatureAlgorithmOf(keyType: string): SignatureAlgorithm {
  switch (keyType) {
    case 'P-256':
      return 'ecdsa-with-SHA256'
    case 'P-384':
      return 'ecdsa-with-SHA384'
    case 'P-521':
      return 'ecdsa-with-SHA512'
    case 'Ed25519':
      return 'Ed25519'
    default:
      // Go's x509.CreateCertificate signs with SHA-256 for every RSA key.
      if (keyType.startsWith('RSA-')) return 'sha256WithRSAEncryption'
      throw new RollcallError(
        'X509_UNSUPPORTED_KEY',
        `cannot sign with a key of type ${keyType}; use ECDSA P-256`,
      )
  }
}
