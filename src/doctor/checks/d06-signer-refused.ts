import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'
import { recentEndings } from '../recent-endings.ts'

export const d06: Check = {
  meta: {
    id: 'D06',
    severity: 'critical',
    title: 'No signer refused an approved request lately',
    failureTitle: 'The signer refused an approved request',
    symptom: 'The request shows "Approved,Failed".',
    description:
      'Each signer takes only requests of its own kind: subject, organization, SANs and usages must be those of a kubelet for the kubelet signers. What it refuses once it refuses for ever.',
    remedy: 'Make a new request that the signer takes, or send it to the signer that is meant.',
    explains: ['G01'],
    reports: ['kubernetes/website#24405'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        recentEndings(requests, 'failed', now).map(({ request, condition, evidence }) => {
          const { name, node, csr } = request
          const why = condition.message ?? condition.reason ?? 'it gave no reason'
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              evidence,
              {
                value: csr.spec.usages.join(', '),
                source: `CertificateSigningRequest ${name} spec.usages`,
              },
            ],
            cause: `${csr.spec.signerName} does not sign it: ${why}.`,
            fix: [deleteRequest(name)],
            verify: watchRequests,
          }
        }),
    }),
  ],
}
