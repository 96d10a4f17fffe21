/** The verifier's half of TPM2_ActivateCredential (part 1, 24): a secret that one TPM alone gives back. No TPM needed. */
import { constants, createCipheriv, createHmac, createPublicKey, publicEncrypt } from 'node:crypto'
import type { PublicArea } from './public-area.ts'
import { joined, malformed, sized, uint32 } from './wire.ts'

export interface Credential {
  /** TPMS_ID_OBJECT. */
  credentialBlob: Uint8Array
  /** The seed, for the endorsement key alone. */
  encryptedSecret: Uint8Array
}

/** Bytes of a seed for an RSA endorsement key: those of its name's hash. */
const seedLength = 32

/**
 * Wraps `secret` (at most 32 bytes) so that only the TPM with this endorsement key gives it back, and only when it also
 * holds the key named `keyName`. `randomBytes` gives cryptographically strong bytes. Throws TPM_MALFORMED for another key
 * than RSA.
 */
export function makeCredential(
  endorsementKey: PublicArea,
  keyName: Uint8Array,
  secret: Uint8Array,
  randomBytes: (length: number) => Uint8Array,
): Credential {
  if (endorsementKey.type !== 'rsa') throw malformed('the endorsement key', 'is not RSA-2048')
  const seed = randomBytes(seedLength)
  const encryptedSecret = publicEncrypt(
    {
      key: createPublicKey({ key: Buffer.from(endorsementKey.spki), format: 'der', type: 'spki' }),
      padding: constants.RSA_PKCS1_OAEP_PADDING,
      oaepHash: 'sha256',
      oaepLabel: Buffer.from('IDENTITY\0'),
    },
    seed,
  )
  const cipher = createCipheriv('aes-128-cfb', kdfa(seed, 'STORAGE', keyName, 128), new Uint8Array(16))
  const identity = joined(cipher.update(sized(secret)), cipher.final())
  const integrity = createHmac('sha256', kdfa(seed, 'INTEGRITY', new Uint8Array(), 256))
    .update(identity)
    .update(keyName)
    .digest()
  return { credentialBlob: joined(sized(integrity), identity), encryptedSecret }
}

/** KDFa of part 1, 11.4.10.2 with SHA-256, up to one block of 256 bits. */
function kdfa(key: Uint8Array, label: string, context: Uint8Array, bits: 128 | 256): Uint8Array {
  const block = createHmac('sha256', key)
    .update(uint32(1))
    .update(`${label}\0`)
    .update(context)
    .update(uint32(bits))
    .digest()
  return new Uint8Array(block.subarray(0, bits / 8))
}
