import { readFileSync } from 'node:fs'
import { hostPorts } from '../../../src/cluster/host-ports.ts'
import type { CertificateAuthority } from '../../../src/cluster/issue-pair.ts'
import { generateSigner, loadSigner } from '../../../src/keys/private-key.ts'
import { selfSignedCa } from '../../../src/keys/self-signed.ts'
import { authorityOf } from '../../../src/sign/authority.ts'
import type { ExaminedUp } from './examined-up.ts'

/** The CA of the cluster, as who steals its key has it. */
export function authority(up: ExaminedUp): CertificateAuthority {
  const pem = readFileSync(up.path('pki', 'ca.crt'), 'utf8')
  return { pem, ...authorityOf(pem, loadSigner(readFileSync(up.path('pki', 'ca.key'), 'utf8'))) }
}

/** Another CA; times in milliseconds since the epoch. */
export async function otherAuthority(
  notAfter: number,
  { commonName = 'other', life = 3650 * 86_400_000 } = {},
): Promise<CertificateAuthority> {
  const signer = generateSigner('ECDSA-P256', hostPorts.random)
  const times = { notBefore: notAfter - life, notAfter }
  const pem = await selfSignedCa({ commonName, signer, ...times, random: hostPorts.random })
  return { pem, ...authorityOf(pem, signer) }
}
