import { hasCode } from '../errors.ts'
import type { AttemptKey } from '../join/request-certificate.ts'
import { cka, type LoadCryptoki } from '../keys/pkcs11/cryptoki.ts'
import { destroyKey, generateKeyInToken, keyLabels } from '../keys/pkcs11/generate-key.ts'
import { findKey, type KeyMatch } from '../keys/pkcs11/key-in-token.ts'
import { signerInToken } from '../keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../keys/pkcs11/token.ts'
import type { Pkcs11Uri } from '../keys/pkcs11/uri.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import type { Secret } from '../keys/secret.ts'
import { encodeTokenKey, readTokenKey, type TokenKey } from '../keys/token-key.ts'
import { formatTime } from '../kube/time-format.ts'
import type { Clock, Disk, Log } from '../ports.ts'

/** The keys of a node's certificates in its PKCS#11 token: made there, one an attempt, and never outside. */
export interface TokenKeys {
  /**
   * A new key, after those that no certificate belongs to any more were destroyed. `kept`: the stored keys of all
   * certificates that are kept; undefined: not all are known, so nothing is destroyed. Rejects as `Token.use`.
   */
  newKey(algorithm: KeyAlgorithm, kept: readonly Secret[] | undefined): Promise<AttemptKey>
  /** Whether the token holds the key now. Rejects when it cannot tell: TOKEN_ABSENT, PIN_WRONG … */
  holds(key: TokenKey): Promise<boolean>
  /** The key that is in the token under this name. Rejects with TOKEN_KEY_ABSENT and as `Token.use`. */
  find(match: KeyMatch): Promise<TokenKey>
  close(): void
}

export interface TokenKeysOptions {
  /** The token; a key that it names does not count. */
  uri: Pkcs11Uri
  nodeName: string
  usage: 'client' | 'serving'
  load: LoadCryptoki
  disk: Disk
  clock: Clock
  log: Log
}

export function createTokenKeys(options: TokenKeysOptions): TokenKeys {
  const { clock, log } = options
  const prefix = `rollcall/${options.nodeName}/${options.usage}/`
  const token = openToken(options)

  /** What a crash between key and certificate left, attempts that failed, and certificates that were replaced. */
  async function prune(kept: readonly Secret[]): Promise<void> {
    const wanted = new Set(kept.map(key => readTokenKey(key)?.label))
    for (const label of await keyLabels(token)) {
      if (!label.startsWith(prefix) || wanted.has(label)) continue
      await destroyKey(token, label)
      log.info('a key that no certificate belongs to was destroyed in the token', { label })
    }
  }

  return {
    async newKey(algorithm, kept) {
      if (kept) await prune(kept)
      const label = `${prefix}${formatTime(clock.now()).replaceAll(/[-:]/g, '')}.${clock.now() % 1000}`
      const id = await generateKeyInToken(token, label, algorithm)
      const signer = await signerInToken(token, { id })
      return { signer, stored: encodeTokenKey({ label, id, spki: signer.publicKey }) }
    },
    async holds({ id, spki }) {
      try {
        const found = await token.use((connection, session) => findKey(connection, session, { id }).spki)
        return Buffer.compare(found, spki) === 0
      } catch (error) {
        if (hasCode(error, 'TOKEN_KEY_ABSENT')) return false
        throw error
      }
    },
    find: match =>
      token.use((connection, session) => {
        const { privateKey, spki } = findKey(connection, session, match)
        const [id = new Uint8Array(), label] = connection.cryptoki.attributes(session, privateKey, [
          cka.id,
          cka.label,
        ])
        return { id, label: Buffer.from(label ?? []).toString(), spki }
      }),
    close: () => token.close(),
  }
}
