import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemRandom } from '../../src/host/random.ts'
import { loadSigner } from '../../src/keys/private-key.ts'
import { Secret } from '../../src/keys/secret.ts'
import { issueCertificate } from '../../src/keys/self-signed.ts'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'
import { heldPair, kinds } from '../support/data-folder.ts'
import type { Damage } from './plan.ts'

/** Does it to one node's folder, while no process runs on it. What is not there stays so. */
export async function inflict(damage: Damage, directory: string, node: string): Promise<void> {
  const folder = join(directory, 'nodes', node)
  const current = (kind: string) => join(folder, 'pki', `${kind}-current.pem`)
  if (damage === 'lose everything') rmSync(folder, { recursive: true, force: true })
  if (damage === 'lose the client pair') rmSync(current('kubelet-client'), { force: true })
  if (damage === 'lose the serving pair') rmSync(current('kubelet-server'), { force: true })
  // What a torn write of another program would leave; ours replaces files whole.
  const pairs = kinds.flatMap(kind => heldPair(directory, node, kind) ?? [])
  if (damage === 'tear') for (const { path, pem } of pairs) truncateSync(path, Math.floor(pem.length / 3))
  if (damage === 'lapse') for (const { path, pem } of pairs) writeFileSync(path, await lapsed(directory, pem))
}

/** The same pair with a certificate that ended a minute ago. */
async function lapsed(directory: string, pem: string): Promise<string> {
  const [leaf] = parseCertificatesPem(pem)
  const [certificate] = parseCertificatesPem(readFileSync(join(directory, 'pki/ca.crt'), 'utf8'))
  const signer = loadSigner(new Secret(readFileSync(join(directory, 'pki/ca.key'), 'utf8')))
  if (!leaf || !certificate) throw new Error('a pair or a CA without a certificate')
  const { subject, spki, keyUsage = [], extendedKeyUsage = [], subjectAltName } = leaf
  const now = Date.now()
  const times = { notBefore: now - 3_600_000, notAfter: now - 60_000 }
  const extensions = { keyUsage, extendedKeyUsage, subjectAltName }
  const ca = { certificate, signer }
  return (
    (await issueCertificate({ ca, subject, spki, ...times, random: systemRandom, extensions })) +
    loadSigner(pem).exportPem().reveal()
  )
}
