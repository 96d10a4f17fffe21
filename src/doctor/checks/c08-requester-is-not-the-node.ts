import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'
import { objectedRequests } from '../objections.ts'

export const c08: Check = {
  meta: {
    id: 'C08',
    severity: 'critical',
    title: 'Nodes ask for their own serving certificates',
    failureTitle: 'A serving certificate is asked for by somebody who is not the node',
    symptom:
      'The request stays Pending under a user name like "test"; logs and exec end with "tls: internal error".',
    description:
      'A serving certificate may be asked for only by the user `system:node:NAME` that the subject names, in group system:nodes. A mapping of cloud identities to users (aws-auth) or a proxy in between makes another user of it; a request for another node is an attack.',
    remedy: 'Correct the mapping so that the node is `system:node:NAME` in group system:nodes.',
    explains: ['C04', 'B14', 'G01', 'C09'],
    reports: ['awslabs/amazon-eks-ami#610'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit: ({ requests }, now) =>
        objectedRequests(requests, ['RequesterNotNode', 'SubjectMismatch'], now).map(
          ({ request: { name, node, csr }, evidence }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              ...evidence,
              {
                value: `${csr.spec.username ?? ''} in ${(csr.spec.groups ?? []).join(', ')}`,
                source: `CertificateSigningRequest ${name} spec.username, spec.groups`,
              },
            ],
            cause: 'Whoever asks is another user than the one that the subject names.',
            fix: [
              {
                run: 'kubectl -n kube-system get configmap aws-auth -o yaml',
                purpose: 'on EKS: two entries for one role? elsewhere: look at what authenticates the node',
              },
              deleteRequest(name),
            ],
            verify: watchRequests,
          }),
        ),
    }),
  ],
}
