import type { Clock } from '../../ports.ts'
import { checkSignature } from '../../x509/signature.ts'
import type { CertificateAuthority } from '../issue-pair.ts'

/** Milliseconds that a signature is taken as proof of the key: a key in a token is not to be worn out. */
const fresh = 60_000
const proven = new WeakMap<CertificateAuthority, number>()

/** Whether the CA's key is there and signs. */
export async function signatureProof(authority: CertificateAuthority, clock: Clock): Promise<boolean> {
  const at = proven.get(authority)
  if (at !== undefined && clock.monotonic() - at < fresh) return true
  const { signer, certificate } = authority
  const tbs = Buffer.from('rollcall.dev: whether this key signs')
  try {
    const signature = await signer.sign(tbs)
    const { spki, keyType } = certificate
    const check = checkSignature({ tbs, signatureAlgorithm: signer.algorithm, signature }, { spki, keyType })
    if (check.ok) proven.set(authority, clock.monotonic())
    return check.ok
  } catch {
    return false // a key that is away does not sign; the gate names it
  }
}
