import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

/** Milliseconds within which a bootstrap signer that runs has signed. */
const patience = 60_000

export const a08: Check = {
  meta: {
    id: 'A08',
    severity: 'critical',
    title: 'cluster-info is signed by the tokens for joining',
    failureTitle: 'cluster-info is not signed by a bootstrap token',
    symptom:
      'kubeadm join ends with "token id is invalid for this cluster" or "failed to verify JWS signature".',
    description:
      'A node that joins by discovery reads ConfigMap kube-public/cluster-info and believes it for the signature `jws-kubeconfig-ID` made with its token. The controller bootstrapsigner makes it; in kube-controller-manager it is off by default.',
    remedy:
      'Run the controllers bootstrapsigner and tokencleaner, in kube-controller-manager or of Rollcall.',
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapTokens', 'clusterInfo'],
      audit: ({ bootstrapTokens, clusterInfo }, now) =>
        bootstrapTokens
          .filter(({ signing, tokenId, expiration, hasSecret }) => {
            const over = expiration !== '' && !(Date.parse(expiration) > now + patience)
            return signing && hasSecret && !over && !clusterInfo.signedBy.includes(tokenId)
          })
          .map(({ name, tokenId }) => ({
            object: `Secret kube-system/${name}`,
            evidence: [
              {
                value: `no key jws-kubeconfig-${tokenId}`,
                source: 'ConfigMap kube-public/cluster-info data',
              },
              { value: 'usage-bootstrap-signing is "true"', source: `Secret kube-system/${name} data` },
            ],
            cause: 'The controller that signs cluster-info does not run.',
            fix: [
              {
                run: 'rollcall controller',
                purpose:
                  'signs it; or add --controllers=*,bootstrapsigner,tokencleaner to kube-controller-manager',
              },
            ],
            verify: runDoctor,
          })),
    }),
  ],
}
