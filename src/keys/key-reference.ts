/** Where a signing key is, as an option says it: a file's path, a `pkcs11:` URI, or `unix:/path?key=NAME`. */
import { RollcallError, systemCode } from '../errors.ts'
import type { Clock, Disk, Net } from '../ports.ts'
import type { LoadCryptoki } from './pkcs11/cryptoki.ts'
import { openPkcs11Signer } from './pkcs11/pkcs11-signer.ts'
import { isPkcs11Uri, type Pkcs11Uri, parsePkcs11Uri } from './pkcs11/uri.ts'
import { loadSigner } from './private-key.ts'
import { openRemoteSigner, type RemoteKey } from './remote-signer.ts'
import { Secret } from './secret.ts'
import type { Signer } from './signer.ts'

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

export interface KeyDoors {
  disk: Disk
  net: Pick<Net, 'http'>
  clock: Clock
  load: LoadCryptoki
  /** User ids that may own an external signer's socket, beside root. */
  owners: readonly number[]
}

/** An open key. */
export interface OpenKey {
  signer: Signer
  /** Whether it could sign now. Rejects with what is wrong: TOKEN_ABSENT, PIN_WRONG, SIGNER_UNREACHABLE … */
  check(): Promise<void>
  /** Gives up its sessions. */
  close(): void
}

/** Rejects with the codes of `loadSigner`, `openPkcs11Signer` and `openRemoteSigner`, and USAGE for a file that cannot be read. */
export async function openKey(reference: KeyReference, doors: KeyDoors): Promise<OpenKey> {
  switch (reference.kind) {
    case 'file':
      return {
        signer: loadSigner(await readKeyFile(reference.path, doors.disk)),
        async check() {},
        close() {},
      }
    case 'pkcs11': {
      const signer = await openPkcs11Signer({ ...doors, uri: reference.uri })
      return { signer, check: () => signer.check(), close: () => signer.close() }
    }
    case 'remote': {
      const signer = await openRemoteSigner({ ...doors, ...reference })
      return { signer, check: () => signer.check(), close() {} }
    }
  }
}

async function readKeyFile(path: string, disk: Pick<Disk, 'read'>): Promise<Secret> {
  try {
    return new Secret(new TextDecoder().decode(await disk.read(path)))
  } catch (cause) {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `the key file ${path} cannot be read (${why}).`, { path }, { cause })
  }
}
