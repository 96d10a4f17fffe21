/** The key by which a controller signs the heads of its decision log: a file beside the log, made once. */
import { RollcallError, systemCode } from '../../errors.ts'
import { generateSigner, loadSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import type { Signer } from '../../keys/signer.ts'
import type { Disk, Random } from '../../ports.ts'

/** Where the key of the log at `path` is. */
export const headKeyPath = (path: string) => `${path}.key`

/** Rejects with AUDIT_UNWRITABLE when the file holds no key, or none can be read or written. */
export async function openHeadKey(
  path: string,
  disk: Pick<Disk, 'read' | 'write' | 'rename' | 'remove'>,
  random: Random,
): Promise<Signer> {
  const file = headKeyPath(path)
  try {
    return loadSigner(new Secret(new TextDecoder().decode(await disk.read(file))))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw unusable(file, error)
  }
  const signer = generateSigner('Ed25519', random)
  // The file is there with a whole key in it or not at all: a full disk leaves an empty one.
  const temporary = `${file}.new`
  try {
    await disk.remove(temporary) // one left by a crash would keep its mode
    await disk.write(temporary, signer.exportPem().reveal(), { mode: 0o600, sync: true })
    await disk.rename(temporary, file)
  } catch (error) {
    throw unusable(file, error)
  }
  return signer
}

function unusable(file: string, cause: unknown): RollcallError {
  const why = systemCode(cause) ?? (cause instanceof Error ? cause.message : String(cause))
  const message = `the key of the decision log, ${file}, cannot be used (${why}): nothing is decided until it can`
  return new RollcallError('AUDIT_UNWRITABLE', message, { path: file }, { cause })
}
