import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

/** Tokens that are shown; there may be thousands. */
const shown = 3

export const i17: Check = {
  meta: {
    id: 'I17',
    severity: 'critical',
    title: 'Tokens of service accounts are of a key that the API knows',
    failureTitle: 'Tokens of service accounts are of a key that the API no longer knows',
    symptom: 'Pods and controllers get 401 with their tokens while nodes and people get through.',
    description:
      'Compares the key id in each token Secret with the keys that the API publishes (/openid/v1/jwks). The key was changed, often together with the CAs, and the former one was not kept for verification.',
    remedy:
      'Give kube-apiserver the former public key as a further --service-account-key-file; change CAs and this key at different times.',
  },
  views: [
    view({
      requiredArtifacts: ['tokenKeys'],
      audit({ tokenKeys: { keyIds, tokens } }) {
        const unknown = tokens.filter(({ keyId }) => !keyIds.includes(keyId))
        if (unknown.length === 0) return []
        return [
          {
            object: 'the key of service account tokens',
            everywhere: true,
            evidence: [
              ...unknown.slice(0, shown).map(({ secret, keyId }) => ({
                value: `key ${keyId}`,
                source: `Secret ${secret}, header of its token`,
              })),
              { value: `keys ${keyIds.join(', ') || 'none'}`, source: 'GET /openid/v1/jwks' },
            ],
            cause: `${unknown.length} of ${tokens.length} token Secrets are signed with a key that the API does not know.`,
            fix: [
              {
                run: 'grep -H service-account /etc/kubernetes/manifests/kube-apiserver.yaml',
                purpose:
                  'on each control-plane node: add --service-account-key-file with the former public key',
              },
              {
                run: 'kubectl delete secret -n NAMESPACE NAME',
                purpose: 'where the former key is lost: the token is made anew; restart its pods',
              },
            ],
            verify: runDoctor,
          },
        ]
      },
    }),
  ],
}
