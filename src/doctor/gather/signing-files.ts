/** The files that a signer signs with, on a node of the control plane. The key itself is never kept. */
import { RollcallError, systemCode } from '../../errors.ts'
import { keyMatches } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { publicHalf } from '../../keys/token-key.ts'
import { decodePem, encodePem } from '../../x509/pem.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { SigningFiles } from '../artifacts/node-artifacts.ts'
import { readBundle } from '../certificates.ts'
import type { ReadOnlyDisk } from './cert-directory.ts'
import { certificatesOnly } from './trust.ts'

/** `absent` where there is no certificate: the node is none of the control plane, or its CA's key is elsewhere. */
export async function readSigningFiles(
  { certificate, key }: { certificate: string; key: string },
  disk: ReadOnlyDisk,
): Promise<Gathered<SigningFiles>> {
  try {
    const text = new TextDecoder().decode(await disk.read(certificate))
    const certificates = certificatesOnly(text)
    const facts: SigningFiles = { certificate, key, certificates }
    const held = await readKey(key, disk)
    const [ca] = readBundle(certificates).certificates
    if (!held || !ca) return { status: 'ok', value: facts }
    return { status: 'ok', value: { ...facts, keyMatches: keyMatches(publicHalf(held), ca) } }
  } catch (error) {
    if (error instanceof RollcallError) return { status: 'failed', reason: error.message }
    const code = systemCode(error)
    if (code === undefined) throw error
    if (code === 'ENOENT') return { status: 'absent', reason: `there is no ${certificate}` }
    return { status: code === 'EACCES' ? 'forbidden' : 'failed', reason: `${certificate}: ${code}` }
  }
}

async function readKey(path: string, disk: ReadOnlyDisk): Promise<Secret | undefined> {
  try {
    const text = new Secret(new TextDecoder().decode(await disk.read(path)))
    const key = decodePem(text.reveal()).find(({ label }) => label.endsWith('PRIVATE KEY'))
    return key && new Secret(encodePem(key.label, key.bytes))
  } catch (error) {
    // Of an external CA only the certificate lies here.
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
