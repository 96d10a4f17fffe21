/** What a TPM says about itself and signs (TPMS_ATTEST), read and verified without any TPM. */
import { createPublicKey, verify } from 'node:crypto'
import { encodeSequence, encodeUnsigned } from '../../x509/der-write.ts'
import { algorithms, attestTypes, generatedValue } from './numbers.ts'
import { isAttestationKey, nameOfKey, parsePublicArea } from './public-area.ts'
import { malformed, TpmReader } from './wire.ts'

export interface Attestation {
  type: keyof typeof attestTypes
  /** What the verifier gave to be signed along. */
  extraData: Uint8Array
  /** For certify and creation: the name of the key that is spoken of. */
  objectName?: Uint8Array
}

/** Reads a TPMS_ATTEST. Throws TPM_MALFORMED. */
export function parseAttestation(bytes: Uint8Array): Attestation {
  const what = 'the attestation'
  const reader = new TpmReader(bytes, what)
  // Otherwise it could be anything that somebody had signed.
  if (reader.uint32() !== generatedValue) throw malformed(what, 'was not made by a TPM')
  const number = reader.uint16()
  reader.sized() // qualifiedSigner
  const extraData = reader.sized()
  reader.take(8 + 4 + 4 + 1 + 8) // clock, resets, restarts, safe; firmware
  switch (number) {
    case attestTypes.quote: {
      for (let selections = reader.uint32(); selections > 0; selections--) {
        reader.uint16()
        reader.take(reader.uint8())
      }
      reader.sized()
      reader.end()
      return { type: 'quote', extraData }
    }
    case attestTypes.certify:
    case attestTypes.creation: {
      const objectName = reader.sized()
      reader.sized()
      reader.end()
      return { type: number === attestTypes.certify ? 'certify' : 'creation', extraData, objectName }
    }
    default:
      throw malformed(what, 'is of another kind than quote, certify and creation')
  }
}

/** Reads a TPMT_SIGNATURE as X.509 carries signatures. Throws TPM_MALFORMED. */
export function parseSignature(bytes: Uint8Array): Uint8Array {
  const what = 'the signature of a TPM'
  const reader = new TpmReader(bytes, what)
  const algorithm = reader.uint16()
  if (reader.uint16() !== algorithms.sha256) throw malformed(what, 'is not with SHA-256')
  if (algorithm === algorithms.rsassa) {
    const signature = reader.sized()
    reader.end()
    return signature
  }
  if (algorithm !== algorithms.ecdsa) throw malformed(what, 'is neither ECDSA nor RSASSA')
  const [r, s] = [reader.sized(), reader.sized()]
  reader.end()
  return encodeSequence(encodeUnsigned(r), encodeUnsigned(s))
}

export interface SignedAttestation {
  /** TPMS_ATTEST. */
  attested: Uint8Array
  /** TPMT_SIGNATURE. */
  signature: Uint8Array
}

/**
 * What an attestation key (its TPMT_PUBLIC) has signed, when it says so over exactly this `extraData`; undefined: it does
 * not, or the key is none that signs only what its TPM made. Throws TPM_MALFORMED.
 */
export function verifyAttestation(
  { attested, signature }: SignedAttestation,
  attestationKey: Uint8Array,
  extraData: Uint8Array,
): Attestation | undefined {
  const key = parsePublicArea(attestationKey)
  const publicKey = createPublicKey({ key: Buffer.from(key.spki), format: 'der', type: 'spki' })
  if (!isAttestationKey(key) || !verify('sha256', attested, publicKey, parseSignature(signature)))
    return undefined
  const attestation = parseAttestation(attested)
  return Buffer.compare(attestation.extraData, extraData) === 0 ? attestation : undefined
}

/** Whether the attestation speaks of this key (its TPMT_PUBLIC). */
export function isAbout({ objectName }: Attestation, publicArea: Uint8Array): boolean {
  return objectName !== undefined && Buffer.compare(objectName, nameOfKey(publicArea)) === 0
}
