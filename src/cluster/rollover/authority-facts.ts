import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Clock } from '../../ports.ts'
import type { AuthorityFacts } from '../../rollover/observations.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { formatName } from '../../x509/name.ts'
import type { CaStore } from './ca-store.ts'
import { signatureProof } from './signature-proof.ts'

/** What a rotation has to know of a CA; undefined: there is none of this number. */
export async function authorityFacts(
  role: TrustRole,
  generation: number,
  { cas, clock }: { cas: Pick<CaStore, 'authority'>; clock: Clock },
): Promise<AuthorityFacts | undefined> {
  const authority = cas.authority(role, generation)
  if (!authority) return undefined
  const { certificate } = authority
  const { subjectKeyIdentifier, basicConstraints, notBefore, notAfter, spki, keyType } = certificate
  return {
    generation,
    subject: formatName(certificate.subject),
    ...(subjectKeyIdentifier && { keyIdentifier: Buffer.from(subjectKeyIdentifier).toString('hex') }),
    key: sha256Hex(spki),
    algorithm: keyType,
    notBefore,
    notAfter,
    mayCrossSign: basicConstraints?.pathLength !== 0,
    keyUsable: await signatureProof(authority, clock),
  }
}
