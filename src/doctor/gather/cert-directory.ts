import { posix } from 'node:path'
import { RollcallError, systemCode } from '../../errors.ts'
import { keyMatches } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { isStoredKey, publicHalf } from '../../keys/token-key.ts'
import type { Disk } from '../../ports.ts'
import { decodePem, encodePem } from '../../x509/pem.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { CertDirectory, PairFile } from '../artifacts/node-artifacts.ts'
import { readBundle } from '../certificates.ts'
import { certificatesOnly } from './trust.ts'

export type ReadOnlyDisk = Pick<Disk, 'read' | 'list' | 'stat' | 'readlink'>

/** The pairs in a certificate directory; one that is not there holds none. */
export async function readCertDirectory(path: string, disk: ReadOnlyDisk): Promise<Gathered<CertDirectory>> {
  try {
    const names = (await disk.list(path)).filter(name => /^kubelet-(client|server)-.*\.pem$/.test(name))
    return {
      status: 'ok',
      value: { path, files: await Promise.all(names.map(name => readPairFile(path, name, disk))) },
    }
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    if (code === 'ENOENT') return { status: 'ok', value: { path, files: [] } }
    return { status: code === 'EACCES' ? 'forbidden' : 'failed', reason: `${path}: ${code}` }
  }
}

async function readPairFile(directory: string, name: string, disk: ReadOnlyDisk): Promise<PairFile> {
  const path = posix.join(directory, name)
  const { kind, mode, size } = await disk.stat(path)
  const file: PairFile = { name, kind, mode, size }
  try {
    if (kind === 'symlink') file.target = await disk.readlink(path)
    return { ...file, ...contentsOf(new Secret(new TextDecoder().decode(await disk.read(path)))) }
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    return { ...file, unreadable: code }
  }
}

function contentsOf(text: Secret): Pick<PairFile, 'certificates' | 'hasKey' | 'keyMatches'> {
  const blocks = decodePem(text.reveal())
  const certificates = certificatesOnly(text.reveal())
  const key = blocks.find(({ label }) => isStoredKey(label))
  const [leaf] = readBundle(certificates).certificates
  const contents = { ...(certificates && { certificates }), hasKey: key !== undefined }
  if (!key || !leaf) return contents
  try {
    return {
      ...contents,
      keyMatches: keyMatches(publicHalf(new Secret(encodePem(key.label, key.bytes))), leaf),
    }
  } catch (error) {
    // A key that cannot be read is none.
    if (error instanceof RollcallError) return { ...contents, hasKey: false }
    throw error
  }
}
