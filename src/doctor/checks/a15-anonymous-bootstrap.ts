import { type Check, view } from '../check.ts'
import { createToken } from '../commands.ts'

export const a15: Check = {
  meta: {
    id: 'A15',
    severity: 'critical',
    title: 'The bootstrap kubeconfig holds a credential',
    failureTitle: 'The bootstrap kubeconfig holds no credential',
    symptom:
      'The kubelet logs \'User "system:anonymous" cannot create resource "certificatesigningrequests"\'.',
    description: 'The kubeconfig has no user, its current context names none, or it cannot be read at all.',
    remedy: 'Make it anew with a token.',
    explains: ['B01'],
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapKubeconfig'],
      audit({ bootstrapKubeconfig: { path, problem, missing, credential } }) {
        if (missing || (problem === undefined && credential !== 'none')) return []
        return [
          {
            object: path,
            evidence: [
              {
                value: problem ?? 'the user of the current context has no token, certificate or plugin',
                source: path,
              },
            ],
            cause: problem === undefined ? 'It was built without a credential.' : 'It cannot be used.',
            fix: [createToken],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
