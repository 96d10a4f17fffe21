import { RollcallError, systemCode } from '../errors.ts'
import type { Clock, Disk, Net } from '../ports.ts'
import type { KeyReference } from './key-reference.ts'
import type { LoadCryptoki } from './pkcs11/cryptoki.ts'
import { openPkcs11Signer } from './pkcs11/pkcs11-signer.ts'
import { loadSigner } from './private-key.ts'
import { openRemoteSigner } from './remote-signer.ts'
import { Secret } from './secret.ts'
import type { Signer } from './signer.ts'

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
