/** How a token signs: most lack the mechanisms that hash, so the digest is made here and the token signs it. */
import { createHash } from 'node:crypto'
import { RollcallError } from '../../errors.ts'
import { algorithmFacts, type Digest, type SignatureAlgorithm } from '../../x509/algorithms.ts'
import {
  encodedNull,
  encodeOctetString,
  encodeOid,
  encodeSequence,
  encodeUnsigned,
} from '../../x509/der-write.ts'
import { ckm } from './cryptoki.ts'

export interface SignatureMechanism {
  /** CKM_…, and its name for messages. */
  mechanism: number
  name: string
  /** What the token gets to sign. */
  input(tbs: Uint8Array): Uint8Array
  /** The token's answer as X.509 carries it. */
  output(signature: Uint8Array): Uint8Array
}

const digestOids: Partial<Record<Digest, string>> = {
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
}

export function signatureMechanism(algorithm: SignatureAlgorithm): SignatureMechanism {
  const { key, digest } = algorithmFacts(algorithm)
  const same = (bytes: Uint8Array) => bytes
  if (key === 'Ed25519') return { mechanism: ckm.eddsa, name: 'CKM_EDDSA', input: same, output: same }
  const oid = digest && digestOids[digest]
  if (!oid) throw new RollcallError('X509_UNSUPPORTED_KEY', `a token cannot sign with ${algorithm}`)
  const hash = (tbs: Uint8Array) => createHash(digest).update(tbs).digest()
  if (key === 'ECDSA') return { mechanism: ckm.ecdsa, name: 'CKM_ECDSA', input: hash, output: ecdsaToDer }
  // RFC 8017, 9.2: DigestInfo; CKM_RSA_PKCS adds only the padding.
  const info = (tbs: Uint8Array) =>
    encodeSequence(encodeSequence(encodeOid(oid), encodedNull), encodeOctetString(hash(tbs)))
  return { mechanism: ckm.rsaPkcs, name: 'CKM_RSA_PKCS', input: info, output: same }
}

/** r and s, each half of the bytes, as ECDSA-Sig-Value (RFC 3279). */
function ecdsaToDer(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2
  return encodeSequence(encodeUnsigned(signature.subarray(0, half)), encodeUnsigned(signature.subarray(half)))
}
