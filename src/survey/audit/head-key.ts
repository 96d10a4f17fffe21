/** The key by which a controller signs the heads of its decision log: a file beside the log, made once. */
import { systemCode } from '../../errors.ts'
import { generateSigner, loadSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import type { Signer } from '../../keys/signer.ts'
import type { Disk, Random } from '../../ports.ts'

/** Where the key of the log at `path` is. */
export const headKeyPath = (path: string) => `${path}.key`

/** Rejects as the disk does, and when the file holds no key. */
export async function openHeadKey(
  path: string,
  disk: Pick<Disk, 'read' | 'write'>,
  random: Random,
): Promise<Signer> {
  const file = headKeyPath(path)
  try {
    return loadSigner(new Secret(new TextDecoder().decode(await disk.read(file))))
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  const signer = generateSigner('Ed25519', random)
  await disk.write(file, signer.exportPem().reveal(), { mode: 0o600, exclusive: true, sync: true })
  return signer
}
