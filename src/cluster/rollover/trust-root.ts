/** The trust root of `up` and `server`: one key, online. Who wants it offline holds ceremonies of his own. */
import { join } from 'node:path'
import { generateSigner, loadSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import type { Signer } from '../../keys/signer.ts'
import type { Disk, Random } from '../../ports.ts'
import { decodeTrustRoots, encodeTrustRoots, type TrustRoots } from '../../trust/trust-roots.ts'
import { readIfThere, replaceFile } from '../pki-files.ts'

export interface OpenTrustRoots {
  roots: TrustRoots
  /** Absent: its key is elsewhere, and bundles are signed by hand. */
  signer?: Signer
}

export interface TrustRootOptions {
  /** `D/ca`. */
  directory: string
  /** `D/trust-roots`: what agents pin. */
  path: string
  /** Name of the cluster that a new set of roots is for. */
  cluster: string
  disk: Disk
  random: Random
}

/** Reads the roots, or makes one of one. A set that is there without its key is somebody's own, and is left alone. */
export async function openTrustRoots({
  directory,
  path,
  cluster,
  disk,
  random,
}: TrustRootOptions): Promise<OpenTrustRoots> {
  const keyPath = join(directory, 'trust-root.key')
  const text = await readIfThere(disk, path)
  const key = await readIfThere(disk, keyPath)
  const roots = text === undefined ? undefined : decodeTrustRoots(text)
  if (roots) return { roots, ...(key !== undefined && { signer: loadSigner(new Secret(key)) }) }
  const signer = key === undefined ? generateSigner('Ed25519', random) : loadSigner(new Secret(key))
  if (key === undefined) await replaceFile(disk, keyPath, signer.exportPem().reveal(), 0o600)
  const made: TrustRoots = { cluster, version: 1, threshold: 1, keys: [signer.publicKey] }
  await replaceFile(disk, path, encodeTrustRoots(made), 0o644)
  return { roots: made, signer }
}
