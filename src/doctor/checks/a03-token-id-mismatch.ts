import { shellWord } from '../../survey/explanation.ts'
import { bootstrapTokenSecretName } from '../../trust/bootstrap-token.ts'
import { type Check, view } from '../check.ts'
import { createToken, listTokens } from '../commands.ts'

export const a03: Check = {
  meta: {
    id: 'A03',
    severity: 'critical',
    title: 'Bootstrap tokens have the id that their Secret is named after',
    failureTitle: 'The id in a bootstrap token is not that of its Secret',
    symptom: 'Nodes with this token get "Unauthorized".',
    description:
      'The API finds the Secret by the id in the token (`bootstrap-token-ID`) and refuses it when `token-id` inside is another, or when there is no `token-secret`.',
    remedy: 'Delete the Secret and let `rollcall token create` or `kubeadm token create` make it.',
    explains: ['A08'],
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapTokens'],
      audit: ({ bootstrapTokens }) =>
        bootstrapTokens.flatMap(({ name, tokenId, hasSecret }) => {
          if (name === bootstrapTokenSecretName(tokenId) && hasSecret) return []
          const value = hasSecret ? `token-id is ${JSON.stringify(tokenId)}` : 'token-secret is missing'
          return {
            object: `Secret kube-system/${name}`,
            evidence: [{ value, source: `Secret kube-system/${name} data` }],
            cause: 'The Secret was made by hand, and its parts do not belong together.',
            fix: [
              {
                run: `kubectl -n kube-system delete secret ${shellWord(name)}`,
                purpose: 'removes what cannot be used',
              },
              createToken,
            ],
            verify: listTokens,
          }
        }),
    }),
  ],
}
