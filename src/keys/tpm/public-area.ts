/** Public areas (TPMT_PUBLIC): templates of the keys that are made, and what a verifier reads of a key. */
import { createHash, createPublicKey } from 'node:crypto'
import { algorithms, attributes, curveP256 } from './numbers.ts'
import { joined, malformed, sized, TpmReader, uint16, uint32 } from './wire.ts'

const { fixedTpm, fixedParent, sensitiveDataOrigin, userWithAuth, adminWithPolicy, noDictionaryAttacks } =
  attributes
const { restricted, decrypt, sign } = attributes

/** PolicySecret of the endorsement hierarchy: what TCG's EK profile protects endorsement keys with. */
const endorsementPolicy = Buffer.from(
  '837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa',
  'hex',
)

/** TCG's template L-1: the RSA-2048 endorsement key that the manufacturer's certificate is for. */
export const endorsementKeyTemplate: Uint8Array = joined(
  uint16(algorithms.rsa),
  uint16(algorithms.sha256),
  uint32(fixedTpm | fixedParent | sensitiveDataOrigin | adminWithPolicy | restricted | decrypt),
  sized(endorsementPolicy),
  uint16(algorithms.aes),
  uint16(128),
  uint16(algorithms.cfb),
  uint16(algorithms.none),
  uint16(2048),
  uint32(0),
  sized(new Uint8Array(256)),
)

/** An ECDSA P-256 key; `restricted`: it signs only what the TPM itself made. */
function signingTemplate(more: number, unique: Uint8Array): Uint8Array {
  return joined(
    uint16(algorithms.ecc),
    uint16(algorithms.sha256),
    uint32(fixedTpm | fixedParent | sensitiveDataOrigin | userWithAuth | noDictionaryAttacks | sign | more),
    sized(),
    uint16(algorithms.none),
    uint16(algorithms.ecdsa),
    uint16(algorithms.sha256),
    uint16(curveP256),
    uint16(algorithms.none),
    sized(unique),
    sized(),
  )
}

/**
 * The attestation key. As a primary key it comes from the TPM's own seed, the same at each start, so nothing of it is kept
 * on the disk.
 */
export const attestationKeyTemplate: Uint8Array = signingTemplate(
  restricted,
  createHash('sha256').update('rollcall attestation key').digest(),
)

export const signingKeyTemplate: Uint8Array = signingTemplate(0, new Uint8Array())

/** A storage parent, ECC P-256, in the owner's hierarchy. */
export const storageKeyTemplate: Uint8Array = joined(
  uint16(algorithms.ecc),
  uint16(algorithms.sha256),
  uint32(
    fixedTpm | fixedParent | sensitiveDataOrigin | userWithAuth | noDictionaryAttacks | restricted | decrypt,
  ),
  sized(),
  uint16(algorithms.aes),
  uint16(128),
  uint16(algorithms.cfb),
  uint16(algorithms.none),
  uint16(curveP256),
  uint16(algorithms.none),
  sized(),
  sized(),
)

export interface PublicArea {
  /** TPMA_OBJECT. */
  attributes: number
  type: 'rsa' | 'ecc'
  /** The hash that its name is made with; only SHA-256 is read. */
  authPolicy: Uint8Array
  /** Symmetric algorithm of a storage key: AES-128 in CFB; absent for keys that are none. */
  protects: boolean
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
}

/** Reads a TPMT_PUBLIC of RSA-2048 or ECC P-256. Throws TPM_MALFORMED, also for what is not supported. */
export function parsePublicArea(bytes: Uint8Array): PublicArea {
  const reader = new TpmReader(bytes, 'the public area of a key')
  const type = reader.uint16()
  if (reader.uint16() !== algorithms.sha256) throw unsupported('has a name that is not SHA-256')
  const attributes = reader.uint32()
  const authPolicy = reader.sized()
  const protects = reader.uint16() !== algorithms.none
  if (protects && (reader.uint16() !== 128 || reader.uint16() !== algorithms.cfb))
    throw unsupported('protects with something else than AES-128 in CFB')
  const scheme = reader.uint16()
  if (scheme !== algorithms.none && reader.uint16() !== algorithms.sha256)
    throw unsupported('signs with another hash than SHA-256')
  const jwk = type === algorithms.rsa ? readRsa(reader) : readEcc(reader, type)
  reader.end()
  return {
    attributes,
    type: type === algorithms.rsa ? 'rsa' : 'ecc',
    authPolicy,
    protects,
    spki: spkiOf(jwk),
  }
}

function readRsa(reader: TpmReader) {
  const bits = reader.uint16()
  const exponent = reader.uint32() || 65_537
  const modulus = reader.sized()
  if (bits !== 2048 || modulus.length !== 256 || exponent !== 65_537) throw unsupported('is not RSA-2048')
  return { kty: 'RSA', n: base64url(modulus), e: base64url(Uint8Array.of(1, 0, 1)) }
}

function readEcc(reader: TpmReader, type: number) {
  if (type !== algorithms.ecc || reader.uint16() !== curveP256) throw unsupported('is not ECC P-256')
  if (reader.uint16() !== algorithms.none) throw unsupported('has a key derivation of its own')
  const [x, y] = [reader.sized(), reader.sized()]
  if (x.length > 32 || y.length > 32) throw unsupported('is not a point of P-256')
  return { kty: 'EC', crv: 'P-256', x: base64url(padded(x)), y: base64url(padded(y)) }
}

/** TPMs may leave out leading zeros. */
function padded(number: Uint8Array): Uint8Array {
  return joined(new Uint8Array(32 - number.length), number)
}

function spkiOf(jwk: Record<string, string>): Uint8Array {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    return new Uint8Array(key.export({ format: 'der', type: 'spki' }))
  } catch {
    throw unsupported('is no key of its curve')
  }
}

/** The key's name: its hash algorithm and the hash of its public area. */
export function nameOfKey(publicArea: Uint8Array): Uint8Array {
  return joined(uint16(algorithms.sha256), createHash('sha256').update(publicArea).digest())
}

/** Whether it is an endorsement key by TCG's template: it can only decrypt, and only as its policy says. */
export function isEndorsementKey({ type, attributes: has, authPolicy, protects }: PublicArea): boolean {
  const wanted = fixedTpm | fixedParent | sensitiveDataOrigin | adminWithPolicy | restricted | decrypt
  return type === 'rsa' && has === wanted && protects && Buffer.compare(authPolicy, endorsementPolicy) === 0
}

/** Whether it was made in a TPM, never leaves it, and signs nothing that the TPM did not make. */
export function isAttestationKey({ attributes: has }: PublicArea): boolean {
  const wanted = fixedTpm | fixedParent | sensitiveDataOrigin | restricted | sign
  return (has & wanted) === wanted && (has & decrypt) === 0
}

/** Whether it was made in a TPM, never leaves it, and only signs. */
export function isSigningKey({ attributes: has }: PublicArea): boolean {
  const wanted = fixedTpm | fixedParent | sensitiveDataOrigin | sign
  return (has & wanted) === wanted && (has & (decrypt | restricted)) === 0
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const unsupported = (why: string) => malformed('the public area of a key', why)
