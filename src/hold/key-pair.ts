import { RollcallError } from '../errors.ts'
import { keyMatches } from '../keys/private-key.ts'
import { Secret } from '../keys/secret.ts'
import { isStoredKey, publicHalf } from '../keys/token-key.ts'
import { type Certificate, parseCertificate } from '../x509/certificate.ts'
import { decodePem, encodePem } from '../x509/pem.ts'

/** A certificate with its private key, known to belong together. */
export interface KeyPair {
  /** PEM, leaf first. */
  chain: string
  /** PEM: the key, or the reference to one in a token (keys/token-key.ts). */
  key: Secret
  leaf: Certificate
}

/**
 * Reads what `serializeKeyPair` and the kubelet write. Only the leaf is looked at for expiry (K-56). Throws
 * X509_MALFORMED or KEY_MISMATCH; neither names a byte of the key.
 */
export function parseKeyPair(text: Secret): KeyPair {
  const blocks = decodePem(text.reveal())
  const certificates = blocks.filter(block => block.label === 'CERTIFICATE')
  const [first] = certificates
  if (!first) throw new RollcallError('X509_MALFORMED', 'The file holds no certificate.')
  const keyBlock = blocks.find(({ label }) => isStoredKey(label))
  if (!keyBlock)
    throw new RollcallError('KEY_MISMATCH', 'The file holds no private key beside the certificate.')
  const chain = certificates.map(block => encodePem('CERTIFICATE', block.bytes)).join('')
  const key = new Secret(encodePem(keyBlock.label, keyBlock.bytes))
  const leaf = parseCertificate(first.bytes)
  if (!keyMatches(publicHalf(key), leaf)) {
    throw new RollcallError('KEY_MISMATCH', 'The certificate and the private key do not belong together.')
  }
  return { chain, key, leaf }
}

/** The certificates, leaf first, then the key (K-12). */
export function serializeKeyPair(chain: string, key: Secret): Secret {
  const newline = (text: string) => (text.endsWith('\n') ? text : `${text}\n`)
  return new Secret(newline(chain) + newline(key.reveal()))
}
