import { type Check, view } from '../check.ts'
import { createToken } from '../commands.ts'

export const a07: Check = {
  meta: {
    id: 'A07',
    severity: 'critical',
    title: 'The API takes bootstrap tokens',
    failureTitle: 'The API does not take a bootstrap token that is valid',
    symptom: 'Every node that joins gets 401, with a token that is in order.',
    description:
      'kube-apiserver takes bootstrap tokens only with --enable-bootstrap-token-auth=true. On the node the fault is told by the token: cluster-info is signed with it, so it is right and lives, and the API answers 401 to it all the same.',
    remedy: 'Start kube-apiserver with --enable-bootstrap-token-auth=true.',
    explains: ['A01'],
  },
  views: [
    view({
      requiredArtifacts: ['controlPlane'],
      audit: ({ controlPlane }) =>
        controlPlane
          .filter(({ program, flags }) => program === 'kube-apiserver' && flags[flag] !== 'true')
          .map(({ pod, flags }) => ({
            object: `Pod kube-system/${pod}`,
            everywhere: true,
            evidence: [
              { value: flags[flag] === undefined ? 'not there' : flags[flag], source: `${pod} --${flag}` },
            ],
            cause: `kube-apiserver runs without --${flag}=true.`,
            fix: [
              {
                run: "sed -i '/- kube-apiserver$/a\\    - --enable-bootstrap-token-auth=true' /etc/kubernetes/manifests/kube-apiserver.yaml",
                purpose: 'on each control-plane node',
              },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
          })),
    }),
    view({
      requiredArtifacts: ['bootstrapAttempt', 'tokenProof', 'bootstrapKubeconfig'],
      audit: ({
        bootstrapAttempt: { status, message, server },
        tokenProof,
        bootstrapKubeconfig: { path },
      }) =>
        status !== 401 || !tokenProof.secretFits
          ? []
          : [
              {
                object: path,
                evidence: [
                  { value: `401 ${message}`, source: `GET ${server}/apis with the token of ${path}` },
                  {
                    value: `signed with the token of id ${tokenProof.tokenId}`,
                    source: 'ConfigMap kube-public/cluster-info',
                  },
                ],
                cause:
                  'The token is right and lives: the API takes no bootstrap tokens, or this one is for signing alone (A04).',
                fix: [
                  {
                    run: 'grep bootstrap-token-auth /etc/kubernetes/manifests/kube-apiserver.yaml',
                    purpose: 'on a control-plane node',
                  },
                  createToken,
                ],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}

const flag = 'enable-bootstrap-token-auth'
