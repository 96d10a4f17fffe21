import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { listTokens } from '../commands.ts'

export const a04: Check = {
  meta: {
    id: 'A04',
    severity: 'critical',
    title: 'Bootstrap tokens may authenticate',
    failureTitle: 'A bootstrap token may not authenticate',
    symptom: 'Nodes with this token get "Unauthorized" although it has not expired.',
    description:
      'The API takes a token only where `usage-bootstrap-authentication` is exactly "true"; without it the token can sign cluster-info at most.',
    remedy: 'Set the usage, or use another token for joining.',
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapTokens'],
      audit: ({ bootstrapTokens }) =>
        bootstrapTokens.flatMap(({ name, authentication, signing, groups }) => {
          // A token that names groups is meant to authenticate; one for signing alone is a choice.
          if (authentication || (signing && groups.length === 0)) return []
          const patch = '{"stringData":{"usage-bootstrap-authentication":"true"}}'
          return {
            object: `Secret kube-system/${name}`,
            evidence: [
              {
                value: 'usage-bootstrap-authentication is not "true"',
                source: `Secret kube-system/${name} data`,
              },
            ],
            cause: 'The token was made without the usage "authentication".',
            fix: [
              {
                run: `kubectl -n kube-system patch secret ${shellWord(name)} -p ${shellWord(patch)}`,
                purpose: 'adds the usage',
              },
            ],
            verify: listTokens,
          }
        }),
    }),
  ],
}
