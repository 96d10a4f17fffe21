/** Where a signing key is, as an option says it: a file's path, a `pkcs11:` URI, or `unix:/path?key=NAME`. */
import { RollcallError } from '../errors.ts'
import { isPkcs11Uri, type Pkcs11Uri, parsePkcs11Uri } from './pkcs11/uri.ts'
import type { RemoteKey } from './remote-signer.ts'

export type KeyReference =
  | { kind: 'file'; path: string }
  | { kind: 'pkcs11'; uri: Pkcs11Uri }
  | ({ kind: 'remote' } & RemoteKey)

/** The key's name where `unix:` names none. */
const defaultKey = 'ca'

/** Throws RollcallError KEY_URI_INVALID. */
export function parseKeyReference(text: string): KeyReference {
  if (isPkcs11Uri(text)) return { kind: 'pkcs11', uri: parsePkcs11Uri(text) }
  if (!text.startsWith('unix:')) return { kind: 'file', path: text }
  const [, socket, key] = /^unix:(?:\/\/(?=\/))?(\/[^?]*)(?:\?key=([A-Za-z0-9._-]{1,100}))?$/.exec(text) ?? []
  if (socket === undefined)
    throw new RollcallError(
      'KEY_URI_INVALID',
      'an external signer is given as unix:/path/of/the.sock or unix:/path/of/the.sock?key=NAME.',
    )
  return { kind: 'remote', socket, key: key ?? defaultKey }
}
