import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'
import { objectedRequests } from '../objections.ts'

export const c07: Check = {
  meta: {
    id: 'C07',
    severity: 'warning',
    title: 'Serving requests ask for the usages of a server',
    failureTitle: 'A serving request asks for the wrong usages',
    symptom: 'The request is denied or waits for ever.',
    description:
      'A kubelet asks for "digital signature" and "server auth", and for "key encipherment" as well where its key is RSA. The signer refuses anything else. Approvers older than Kubernetes 1.27 insist on "key encipherment" and then refuse every newer kubelet.',
    remedy: 'Correct what makes the request, or update the approver.',
    explains: ['C04', 'B14', 'G01', 'C09'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit: ({ requests }, now) =>
        objectedRequests(requests, ['UsagesInvalid'], now).map(
          ({ request: { name, node, csr }, evidence }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              ...evidence,
              { value: csr.spec.usages.join(', '), source: `CertificateSigningRequest ${name} spec.usages` },
            ],
            cause: 'The usages are not those of a kubelet serving certificate.',
            fix: [deleteRequest(name)],
            verify: watchRequests,
          }),
        ),
    }),
  ],
}
