import { generateSigner } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import { type Authority, authorityOf } from '../sign/authority.ts'
import { seededRandom } from './seeded-random.ts'

/** An Ed25519 CA from a seed, valid a year before and ten years after `now` (milliseconds since the epoch). */
export async function signingAuthority(now: number, seed = 1): Promise<Authority & { pem: string }> {
  const random = seededRandom(seed)
  const signer = generateSigner('Ed25519', random)
  const year = 365 * 86_400_000
  const times = { notBefore: now - year, notAfter: now + 10 * year }
  const pem = await selfSignedCa({ commonName: 'kubernetes', signer, random, ...times })
  return { ...authorityOf(pem, signer), pem }
}
