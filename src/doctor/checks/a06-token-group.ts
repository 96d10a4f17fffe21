import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { listTokens } from '../commands.ts'

/** bootstrapapi.BootstrapGroupPattern. */
const allowed = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

export const a06: Check = {
  meta: {
    id: 'A06',
    severity: 'critical',
    title: 'Bootstrap tokens name groups that they may have',
    failureTitle: 'A bootstrap token names a group that it may not have',
    symptom: 'Nodes with this token get "Unauthorized".',
    description:
      'Every group in `auth-extra-groups` must begin with `system:bootstrappers:`; the API refuses the whole token for one that does not.',
    remedy: 'Correct the group, and bind the roles for joining to it.',
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapTokens'],
      audit: ({ bootstrapTokens }) =>
        bootstrapTokens.flatMap(({ name, groups }) => {
          const wrong = groups.filter(group => !allowed.test(group))
          if (wrong.length === 0) return []
          const right = 'system:bootstrappers:kubeadm:default-node-token'
          const patch = `{"stringData":{"auth-extra-groups":"${right}"}}`
          return {
            object: `Secret kube-system/${name}`,
            evidence: [
              {
                value: `groups ${wrong.join(', ')}`,
                source: `Secret kube-system/${name} data.auth-extra-groups`,
              },
            ],
            cause: 'A group does not begin with system:bootstrappers:.',
            fix: [
              {
                run: `kubectl -n kube-system patch secret ${shellWord(name)} -p ${shellWord(patch)}`,
                purpose: "sets kubeadm's group",
              },
            ],
            verify: listTokens,
          }
        }),
    }),
  ],
}
