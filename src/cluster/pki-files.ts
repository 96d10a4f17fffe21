import { join } from 'node:path'
import { RollcallError, systemCode } from '../errors.ts'
import type { Secret } from '../keys/secret.ts'
import type { Disk } from '../ports.ts'

/** Text of the file, or undefined when it is not there. Throws DIRECTORY_UNUSABLE that names the file. */
export async function readIfThere(disk: Disk, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return undefined
    if (code === undefined) throw error
    throw new RollcallError(
      'DIRECTORY_UNUSABLE',
      `${path} cannot be read (${code}).`,
      { path },
      { cause: error },
    )
  }
}

/** Writes so that a crash leaves the old content or the new, never a part: temporary file, fsync, rename, fsync. */
export async function replaceFile(disk: Disk, path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.new`
  await disk.remove(temporary) // one left by a crash would keep its mode
  // Exclusive: two who write at once must not fill one file, which would be neither's.
  await disk.write(temporary, text, { mode, sync: true, exclusive: true })
  await disk.rename(temporary, path)
  await disk.syncDirectory(join(path, '..'))
}

export interface PairFiles {
  certificate: string
  key: string
}

/** Writes `NAME.key` (0600) first: a certificate without its key would look like a broken pair. */
export async function writePair(
  disk: Disk,
  files: PairFiles,
  pem: { certificate: string; key: Secret },
): Promise<void> {
  await replaceFile(disk, files.key, pem.key.reveal(), 0o600)
  await replaceFile(disk, files.certificate, pem.certificate, 0o644)
}
