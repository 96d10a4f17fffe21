import { type Check, view } from '../check.ts'
import { createToken } from '../commands.ts'

export const a02: Check = {
  meta: {
    id: 'A02',
    severity: 'critical',
    title: 'The secret part of the bootstrap token is right',
    failureTitle: 'The bootstrap token has another secret part than the cluster knows',
    symptom: 'The node never appears; the API answers 401 although the token is in `kubeadm token list`.',
    description:
      'A token of this id signs kube-public/cluster-info, so it lives; but with the secret part that is in the bootstrap kubeconfig the signature is another. The token was mistyped, or made anew under the same id.',
    remedy: 'Make a new token and put it into the bootstrap kubeconfig.',
    explains: ['A01'],
    reports: ['kubernetes/kubernetes#51509', 'mmumshad/kubernetes-the-hard-way#122'],
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapAttempt', 'tokenProof', 'bootstrapKubeconfig'],
      audit: ({
        bootstrapAttempt: { status, message, server },
        tokenProof,
        bootstrapKubeconfig: { path },
      }) =>
        status !== 401 || !tokenProof.signed || tokenProof.secretFits
          ? []
          : [
              {
                object: path,
                evidence: [
                  { value: `401 ${message}`, source: `GET ${server}/apis with the token of ${path}` },
                  {
                    value: `signed by token id ${tokenProof.tokenId}, with another secret`,
                    source: 'ConfigMap kube-public/cluster-info',
                  },
                ],
                cause: 'The token was mistyped, or made anew under the same id.',
                fix: [createToken],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
