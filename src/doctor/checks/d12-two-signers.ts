import { signerNames } from '../../kube/types.ts'
import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'
import type { IssuedFacts } from '../issued-facts.ts'
import type { RequestFacts } from '../request-facts.ts'

const ofKubernetes: readonly string[] = Object.values(signerNames)

export const d12: Check = {
  meta: {
    id: 'D12',
    severity: 'warning',
    title: 'One CA signs for each signer at a time',
    failureTitle: 'Two signers with different CAs sign in turn',
    symptom: 'Some certificates of one kind come from one CA and some from another, at random.',
    description:
      'Among the certificates of one signer, in the order in which they were issued, the issuing key changes and changes back. After a change of the CA it changes once; back and forth it goes only where two programs sign, e.g. kube-controller-manager and Rollcall.',
    remedy: 'Switch one of them off.',
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit({ requests }) {
        const bySigner = Map.groupBy(
          requests.filter(({ csr }) => ofKubernetes.includes(csr.spec.signerName)),
          ({ csr }) => csr.spec.signerName,
        )
        return [...bySigner].flatMap(([signer, of]) => {
          const turns = changesOfIssuer(of)
          if (turns.length < 3) return []
          return {
            object: `signer ${signer}`,
            evidence: turns.slice(0, 3).map(({ request, issuer }) => ({
              value: `issued by key ${issuer}`,
              source: `CertificateSigningRequest ${request.name} status.certificate`,
            })),
            cause: 'Two programs with different CAs sign for it.',
            fix: [
              {
                run: 'kubectl -n kube-system get leases',
                purpose: 'kube-controller-manager and rollcall: which of them should sign?',
              },
            ],
            verify: watchRequests,
          }
        })
      },
    }),
  ],
}

/** The first certificate, and each that has another issuing key than the one before it, by the time they begin. */
function changesOfIssuer(requests: readonly RequestFacts[]) {
  const issued = requests
    .flatMap(request => (request.issued?.ok ? [{ request, certificate: request.issued.value }] : []))
    .sort((a, b) => a.certificate.notBefore - b.certificate.notBefore)
    .map(({ request, certificate }) => ({ request, issuer: issuerOf(certificate) }))
  return issued.filter(({ issuer }, index) => issuer !== issued[index - 1]?.issuer)
}

function issuerOf({ authorityKeyIdentifier, issuer }: IssuedFacts): string {
  return Buffer.from(authorityKeyIdentifier ?? issuer.raw)
    .toString('hex')
    .slice(0, 16)
}
