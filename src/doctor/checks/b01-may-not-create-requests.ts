import { shellWord } from '../../survey/explanation.ts'
import { groupOf } from '../bound-group.ts'
import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'

export const b01: Check = {
  meta: {
    id: 'B01',
    severity: 'critical',
    title: 'Bootstrap tokens may create certificate requests',
    failureTitle: 'Bootstrap tokens may not create certificate requests',
    symptom:
      'The kubelet logs \'cannot create resource "certificatesigningrequests"\' (403); no request appears.',
    description:
      'Asks the API by SubjectAccessReview whether a member of the group of the tokens may create CertificateSigningRequests. kubeadm binds it as `kubeadm:kubelet-bootstrap`.',
    remedy: 'Bind ClusterRole system:node-bootstrapper to the group of the tokens.',
    reports: [
      'opsnull/follow-me-install-kubernetes-cluster#448',
      'opsnull/follow-me-install-kubernetes-cluster#140',
    ],
  },
  views: [
    view({
      requiredArtifacts: ['joinAccess'],
      audit: ({ joinAccess }) =>
        joinAccess
          .filter(({ purpose, allowed }) => purpose === 'join' && !allowed)
          .map(answer => ({
            object: `group ${groupOf(answer)}`,
            evidence: [
              {
                value: `denied for groups ${answer.groups.join(', ')}`,
                source: 'SubjectAccessReview create certificatesigningrequests',
              },
            ],
            cause: 'No binding gives the group the role system:node-bootstrapper.',
            fix: [
              {
                run: `kubectl create clusterrolebinding kubeadm:kubelet-bootstrap --clusterrole=system:node-bootstrapper --group=${shellWord(groupOf(answer))}`,
                purpose: 'lets bootstrap tokens ask',
              },
            ],
            verify: watchRequests,
          })),
    }),
  ],
}
