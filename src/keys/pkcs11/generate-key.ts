/** Keys made inside a token and never to leave it. */
import { RollcallError } from '../../errors.ts'
import { encode, encodeOid } from '../../x509/der-write.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { oids } from '../../x509/oid.ts'
import type { KeyAlgorithm } from '../private-key.ts'
import { type Attribute, cka, ckm, cko } from './cryptoki.ts'
import { publicKeyOf } from './key-in-token.ts'
import type { Token } from './token.ts'

/** What its CKA_ID is made of: the first bytes of the SHA-256 of the SubjectPublicKeyInfo. */
const idLength = 16

interface Making {
  mechanism: number
  name: string
  parameters: Attribute[]
}

function making(algorithm: KeyAlgorithm): Making {
  const curve = (value: Uint8Array) => [{ type: cka.ecParams, value }]
  switch (algorithm) {
    case 'ECDSA-P256':
      return {
        mechanism: ckm.ecKeyPairGen,
        name: 'CKM_EC_KEY_PAIR_GEN',
        parameters: curve(encodeOid(oids.p256)),
      }
    case 'ECDSA-P384':
      return {
        mechanism: ckm.ecKeyPairGen,
        name: 'CKM_EC_KEY_PAIR_GEN',
        parameters: curve(encodeOid(oids.p384)),
      }
    case 'Ed25519':
      // PKCS#11 3.0: the curve by its name; tokens know that form better than RFC 8410's identifier.
      return {
        mechanism: ckm.ecEdwardsKeyPairGen,
        name: 'CKM_EC_EDWARDS_KEY_PAIR_GEN',
        parameters: curve(encode(0x13, Buffer.from('edwards25519'))),
      }
    case 'RSA-2048':
    case 'RSA-3072':
    case 'RSA-4096':
      return {
        mechanism: ckm.rsaKeyPairGen,
        name: 'CKM_RSA_PKCS_KEY_PAIR_GEN',
        parameters: [
          { type: cka.modulusBits, value: Number(algorithm.slice('RSA-'.length)) },
          { type: cka.publicExponent, value: Uint8Array.of(1, 0, 1) },
        ],
      }
  }
}

/**
 * A new key pair with this CKA_LABEL; its CKA_ID comes from its public key. Resolves with that id, and rejects with
 * MECHANISM_MISSING, TOKEN_FAILED when the token made a key that could leave it, or as `Token.use` does.
 */
export async function generateKeyInToken(
  token: Token,
  label: string,
  algorithm: KeyAlgorithm,
): Promise<Uint8Array> {
  const { mechanism, name, parameters } = making(algorithm)
  return token.change(async (connection, session) => {
    const { cryptoki, slot, info } = connection
    const where = `token ${JSON.stringify(info.label)}`
    if (!cryptoki.mechanisms(slot).includes(mechanism))
      throw new RollcallError(
        'MECHANISM_MISSING',
        `${where} cannot make an ${algorithm} key (${name}); choose another algorithm.`,
      )
    const named = { type: cka.label, value: label }
    const made = await cryptoki.generateKeyPair(
      session,
      mechanism,
      [...parameters, named, { type: cka.token, value: true }, { type: cka.verify, value: true }],
      [
        named,
        { type: cka.token, value: true },
        { type: cka.private, value: true },
        { type: cka.sensitive, value: true },
        { type: cka.extractable, value: false },
        { type: cka.sign, value: true },
      ],
    )
    const spki = publicKeyOf(connection, session, made.publicKey)
    const id = Buffer.from(sha256Hex(spki), 'hex').subarray(0, idLength)
    for (const half of [made.publicKey, made.privateKey])
      cryptoki.setAttributes(session, half, [{ type: cka.id, value: id }])
    const proofs = cryptoki.attributes(session, made.privateKey, [cka.neverExtractable, cka.local])
    if (proofs.some(value => value?.[0] !== 1))
      throw new RollcallError(
        'TOKEN_FAILED',
        `${where} made a key that is not bound to it; check its settings.`,
      )
    return id
  })
}

/** Labels of the private keys in the token. */
export function keyLabels(token: Token): Promise<string[]> {
  return token.use(({ cryptoki }, session) =>
    cryptoki
      .findObjects(session, [{ type: cka.class, value: cko.privateKey }], mostKeys)
      .map(key => Buffer.from(cryptoki.attributes(session, key, [cka.label])[0] ?? []).toString()),
  )
}

const mostKeys = 1000

/** Destroys every object with this label. One that is not there is no error. */
export async function destroyKey(token: Token, label: string): Promise<void> {
  await token.change(({ cryptoki }, session) => {
    for (const object of cryptoki.findObjects(session, [{ type: cka.label, value: label }], mostKeys))
      cryptoki.destroyObject(session, object)
  })
}
