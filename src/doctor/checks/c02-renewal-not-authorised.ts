import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { refusedRequests } from '../refused-requests.ts'

const role = 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient'
const cause = `Group system:nodes is not bound to the role ${role}.`
const fix = [
  {
    run: `kubectl create clusterrolebinding kubeadm:node-autoapprove-certificate-rotation --clusterrole=${role} --group=system:nodes`,
    purpose: 'lets nodes have their renewals approved; requests that wait are approved within minutes',
  },
]

export const c02: Check = {
  meta: {
    id: 'C02',
    severity: 'critical',
    title: 'Renewals of client certificates may be approved',
    failureTitle: 'No role allows a node to have its client certificate renewed',
    symptom:
      'Renewals stay Pending while the certificates age; at their end the nodes go NotReady, all in the same weeks.',
    description:
      'The approver asks by SubjectAccessReview whether the node may `create certificatesigningrequests/selfnodeclient`. kubeadm binds that as `kubeadm:node-autoapprove-certificate-rotation`.',
    remedy: 'Bind the role to the group system:nodes.',
    explains: ['C03', 'B14', 'E18'],
    reports: ['kubernetes/kubernetes#61345', 'opsnull/follow-me-install-kubernetes-cluster#228'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'requesterAccess'],
      audit: ({ requests, requesterAccess }) =>
        refusedRequests(requests, requesterAccess, 'selfnodeclient')
          .filter(({ request }) => request.newest)
          .map(({ request: { name, node } }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `system:node:${node} in system:nodes: denied`,
                source: 'SubjectAccessReview create certificatesigningrequests/selfnodeclient',
              },
              { value: 'undecided', source: `CertificateSigningRequest ${name} status.conditions` },
            ],
            cause,
            fix,
            verify: watchRequests,
          })),
    }),
    view({
      requiredArtifacts: ['joinAccess'],
      audit: ({ joinAccess }) =>
        joinAccess
          .filter(({ purpose, allowed }) => purpose === 'selfnodeclient' && !allowed)
          .slice(0, 1)
          .map(({ groups }) => ({
            object: 'group system:nodes',
            evidence: [
              {
                value: `denied for groups ${groups.join(', ')}`,
                source: 'SubjectAccessReview create certificatesigningrequests/selfnodeclient',
              },
            ],
            cause,
            fix,
            verify: watchRequests,
          })),
    }),
  ],
}
