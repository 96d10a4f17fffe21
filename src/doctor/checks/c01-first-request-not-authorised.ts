import { formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { groupOf } from '../bound-group.ts'
import { type Check, view } from '../check.ts'
import { approveRequest, watchRequests } from '../commands.ts'
import { refusedRequests } from '../refused-requests.ts'

const role = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient'
const bind = (group: string) => ({
  run: `kubectl create clusterrolebinding kubeadm:node-autoapprove-bootstrap --clusterrole=${role} --group=${shellWord(group)}`,
  purpose:
    'lets first certificates be approved by themselves; requests that wait are approved within minutes',
})

export const c01: Check = {
  meta: {
    id: 'C01',
    severity: 'critical',
    title: 'First client certificates of nodes may be approved',
    failureTitle: 'No role allows the first client certificate of a node to be approved',
    symptom:
      'The request of a joining node stays Pending; kube-controller-manager says why only at verbosity 4.',
    description:
      'The approver asks by SubjectAccessReview whether the requester may `create certificatesigningrequests/nodeclient`. kubeadm binds that as `kubeadm:node-autoapprove-bootstrap`. When the answer is no, there is no condition and no Event.',
    remedy: 'Bind the role to the group of the tokens.',
    explains: ['C03', 'B14'],
    reports: ['kubernetes/kubernetes#61345', 'opsnull/follow-me-install-kubernetes-cluster#228'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'requesterAccess'],
      audit: ({ requests, requesterAccess }) =>
        refusedRequests(requests, requesterAccess, 'nodeclient')
          .filter(({ request }) => request.newest)
          .map(({ request: { name, node, created, csr }, answer }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `${csr.spec.username} in ${answer.groups.join(', ')}: denied`,
                source: 'SubjectAccessReview create certificatesigningrequests/nodeclient',
              },
              {
                value: 'undecided',
                source: `CertificateSigningRequest ${name} status.conditions`,
                at: formatTime(created),
              },
            ],
            cause: `Group ${groupOf(answer)} is not bound to the role ${role}.`,
            fix: [bind(groupOf(answer)), approveRequest(name)],
            verify: watchRequests,
          })),
    }),
    view({
      requiredArtifacts: ['joinAccess'],
      audit: ({ joinAccess }) =>
        joinAccess
          .filter(({ purpose, allowed, user }) => purpose === 'nodeclient' && !allowed && isToken(user))
          .map(answer => ({
            object: `group ${groupOf(answer)}`,
            evidence: [
              {
                value: `denied for groups ${answer.groups.join(', ')}`,
                source: 'SubjectAccessReview create certificatesigningrequests/nodeclient',
              },
            ],
            cause: `Group ${groupOf(answer)} is not bound to the role ${role}.`,
            fix: [bind(groupOf(answer))],
            verify: watchRequests,
          })),
    }),
  ],
}

const isToken = (user: string) => user.startsWith('system:bootstrap:')
