import { shellWord } from '../../survey/explanation.ts'
import { bootstrapTokenType } from '../../trust/bootstrap-token.ts'
import { type Check, view } from '../check.ts'
import { createToken, listTokens } from '../commands.ts'

export const a05: Check = {
  meta: {
    id: 'A05',
    severity: 'critical',
    title: 'Bootstrap tokens are Secrets of their own type',
    failureTitle: 'A bootstrap token is a Secret of the wrong type',
    symptom: 'Nodes with this token get "Unauthorized".',
    description:
      'Only Secrets of type `bootstrap.kubernetes.io/token` are tokens, whatever their name and contents. The type of a Secret cannot be changed.',
    remedy: 'Delete the Secret and make the token anew.',
    explains: ['A08'],
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapTokens'],
      audit: ({ bootstrapTokens }) =>
        bootstrapTokens
          .filter(({ type }) => type !== bootstrapTokenType)
          .map(({ name, type }) => ({
            object: `Secret kube-system/${name}`,
            evidence: [{ value: `type ${JSON.stringify(type)}`, source: `Secret kube-system/${name} type` }],
            cause: `It was created without \`type: ${bootstrapTokenType}\`.`,
            fix: [
              {
                run: `kubectl -n kube-system delete secret ${shellWord(name)}`,
                purpose: 'its type cannot be changed',
              },
              createToken,
            ],
            verify: listTokens,
          })),
    }),
  ],
}
