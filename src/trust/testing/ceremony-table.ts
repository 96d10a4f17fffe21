/** CAs and trust roots around one table, from a seed. */
import { generateSigner } from '../../keys/private-key.ts'
import { selfSignedCa } from '../../keys/self-signed.ts'
import type { Signer } from '../../keys/signer.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import type { SignedBundle } from '../accept-bundle.ts'
import { type PlannedBundle, plannedBundles, signBundles } from '../ceremony.ts'
import type { TrustRoots } from '../trust-roots.ts'

export const day = 86_400_000
export const tableNow = Date.parse('2026-06-01T00:00:00Z')

export interface Authority {
  certificate: Certificate
  signer: Signer
}

export async function authority(seed: number, commonName = `rollcall-client-${seed}`): Promise<Authority> {
  const random = seededRandom(seed)
  const signer = generateSigner('Ed25519', random)
  const times = { notBefore: tableNow - day, notAfter: tableNow + 3650 * day }
  const [certificate] = parseCertificatesPem(await selfSignedCa({ commonName, signer, random, ...times }))
  if (certificate === undefined) throw new Error('no certificate')
  return { certificate, signer }
}

export interface CeremonyTable {
  roots: TrustRoots
  rootSigners: readonly Signer[]
  authorities: readonly Authority[]
  /** Signed by the threshold: steady, then four for each rollover. */
  bundles: readonly (PlannedBundle & SignedBundle)[]
}

/** Two of three roots sign for `count` CAs of the role client. */
export async function ceremonyTable(count = 3): Promise<CeremonyTable> {
  const random = seededRandom(4711)
  const rootSigners = Array.from({ length: 3 }, () => generateSigner('Ed25519', random))
  const keys = rootSigners.map(({ publicKey }) => publicKey)
  const roots: TrustRoots = { cluster: 'table', version: 1, threshold: 2, keys }
  const authorities = await Promise.all(Array.from({ length: count }, (_, index) => authority(index + 1)))
  const planned = plannedBundles({
    cluster: 'table',
    role: 'client',
    lastGeneration: 0,
    authorities: authorities.map(({ certificate }) => certificate.raw),
    notBefore: tableNow,
    notAfter: tableNow + 730 * day,
  })
  return {
    roots,
    rootSigners,
    authorities,
    bundles: await signBundles(planned, rootSigners.slice(0, 2), roots),
  }
}
