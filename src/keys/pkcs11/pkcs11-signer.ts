import { inspect } from 'node:util'
import { RollcallError } from '../../errors.ts'
import { parsePublicKey } from '../../x509/public-key.ts'
import { signatureAlgorithmOf } from '../signature-algorithm.ts'
import type { Signer } from '../signer.ts'
import type { Handle } from './cryptoki.ts'
import { findKey, type KeyMatch } from './key-in-token.ts'
import { signatureMechanism } from './signature-mechanism.ts'
import { type Connection, openToken, type Token, type TokenOptions } from './token.ts'

/** A signer that holds sessions with a token. */
export interface TokenSigner extends Signer {
  /** Whether the token is there, without a signature. Rejects as `Token.use`. */
  check(): Promise<void>
  close(): void
}

/** Bytes; an RSA-4096 signature has 512. */
const mostSignature = 1024

/**
 * The signer of a key that never leaves its token. Each signature is made off the event loop, as many at a time as there
 * are sessions; after the token was lost the next signature connects anew. Rejects as `Token.use` does, and with
 * KEY_MISMATCH when the token came back with another key of the same name.
 */
export async function openPkcs11Signer(options: TokenOptions): Promise<TokenSigner> {
  const token = openToken(options)
  try {
    const signer = await signerInToken(token, options.uri)
    return Object.assign(signer, {
      check: () => token.use(({ cryptoki, slot }) => void cryptoki.tokenInfo(slot)),
      close: () => token.close(),
    })
  } catch (error) {
    token.close()
    throw error
  }
}

/** The signer of one key of a token that others use too. */
export async function signerInToken(token: Token, match: KeyMatch): Promise<Signer> {
  const publicKey = await token.use((connection, session) => findKey(connection, session, match).spki)
  const algorithm = signatureAlgorithmOf(parsePublicKey(publicKey).type)
  const { mechanism, name, input, output } = signatureMechanism(algorithm)
  const handles = new WeakMap<Connection, Handle>()

  function keyOf(connection: Connection, session: Handle): Handle {
    const known = handles.get(connection)
    if (known) return known
    const { privateKey, spki } = findKey(connection, session, match)
    if (Buffer.compare(spki, publicKey) !== 0)
      throw new RollcallError(
        'KEY_MISMATCH',
        `token ${JSON.stringify(connection.info.label)} holds another key of the same name now; put the right one back.`,
      )
    if (!connection.cryptoki.mechanisms(connection.slot).includes(mechanism))
      throw new RollcallError(
        'MECHANISM_MISSING',
        `token ${JSON.stringify(connection.info.label)} cannot sign with ${name}; use a key of another type.`,
      )
    handles.set(connection, privateKey)
    return privateKey
  }

  await token.use(keyOf)
  const text = `[signer ${algorithm} in a PKCS#11 token]`
  return {
    publicKey,
    algorithm,
    async sign(tbs) {
      const data = input(tbs)
      const signature = await token.use((connection, session) =>
        connection.cryptoki.sign(session, mechanism, keyOf(connection, session), data, mostSignature),
      )
      return output(signature)
    },
    ...{ toString: () => text, toJSON: () => text, [inspect.custom]: () => text },
  }
}
