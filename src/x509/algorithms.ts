/** The signature algorithms Rollcall signs and verifies with. Anything else is X509_UNSUPPORTED_KEY. */
export type SignatureAlgorithm =
  | 'ecdsa-with-SHA256'
  | 'ecdsa-with-SHA384'
  | 'ecdsa-with-SHA512'
  | 'sha256WithRSAEncryption'
  | 'sha384WithRSAEncryption'
  | 'sha512WithRSAEncryption'
  | 'Ed25519'
