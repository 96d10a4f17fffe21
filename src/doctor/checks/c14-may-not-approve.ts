import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'

export const c14: Check = {
  meta: {
    id: 'C14',
    severity: 'warning',
    title: 'Who updates approvals may approve for the signers of kubelets',
    failureTitle: 'An approver lacks the right to approve for a signer',
    symptom: '403: "user not permitted to approve requests with signerName"; requests stay pending.',
    description:
      'To update the subresource approval is not enough: the API also asks for the verb `approve` on the signer. Asks for everybody who is bound to a role that may update certificatesigningrequests/approval.',
    remedy: 'Give the role the verb approve on the signer, by name.',
    explains: ['C03', 'C04'],
  },
  views: [
    view({
      requiredArtifacts: ['approvers'],
      audit: ({ approvers }) =>
        approvers
          // Where another one may, it is not for this one that requests wait.
          .filter(({ signers }) => signers.length === 0)
          .map(({ subject, role, binding }) => ({
            object: subject,
            everywhere: approvers.every(({ signers }) => signers.length === 0),
            evidence: [
              { value: `${subject} is bound to ${role}`, source: `ClusterRoleBinding ${binding}` },
              {
                value: 'no',
                source:
                  'SubjectAccessReview approve signers, kubernetes.io/kubelet-serving and -client-kubelet',
              },
            ],
            cause: `ClusterRole ${role} lets approvals be updated, and names no signer.`,
            fix: [
              {
                run: `kubectl patch clusterrole ${shellWord(role)} --type=json -p '[{"op":"add","path":"/rules/-","value":{"apiGroups":["certificates.k8s.io"],"resources":["signers"],"resourceNames":["kubernetes.io/kubelet-serving"],"verbs":["approve"]}}]'`,
                purpose: 'lets it approve serving certificates of kubelets',
              },
            ],
            verify: watchRequests,
          })),
    }),
    logView(logPatterns.C14, {
      cause: 'The approver may update approvals, and may not approve for this signer.',
      fix: [
        {
          run: 'kubectl get clusterroles -o yaml | grep -B8 -A8 certificatesigningrequests/approval',
          purpose: 'its role: add apiGroups certificates.k8s.io, resources signers, verbs approve',
        },
      ],
      verify: watchRequests,
    }),
  ],
}
