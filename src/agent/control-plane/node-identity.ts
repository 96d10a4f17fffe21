import { posix } from 'node:path'
import { generateSigner, loadSigner, type PrivateKeySigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import type { Disk, Log, Random } from '../../ports.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { replaceFile } from './replace-file.ts'
import { readText } from './step-journal.ts'

/**
 * The key of this node itself, made at its first use and kept (0600): the operator pins it where CA keys are sealed, so that
 * not even who can issue certificates of this node is sealed one.
 */
export async function nodeIdentity(
  directory: string,
  { disk, random, log }: { disk: Disk; random: Random; log: Log },
): Promise<PrivateKeySigner> {
  const path = posix.join(directory, 'identity.key')
  const text = await readText(disk, path)
  if (text !== undefined) return loadSigner(new Secret(text))
  const made = generateSigner('Ed25519', random)
  await replaceFile(disk, path, made.exportPem().reveal(), 0o600)
  log.info('the control plane of this node has an identity of its own', { sha256: sha256Hex(made.publicKey) })
  return made
}
