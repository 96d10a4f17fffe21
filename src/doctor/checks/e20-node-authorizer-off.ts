import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

const flag = 'authorization-mode'

export const e20: Check = {
  meta: {
    id: 'E20',
    severity: 'critical',
    title: 'The API gives nodes their rights',
    failureTitle: 'The API gives nodes no rights',
    symptom: 'Nodes get 403 for everything, with a certificate that is valid.',
    description:
      'Nodes have their rights from the Node authorizer. Without `Node` in --authorization-mode a node may do nothing, unless the group system:nodes is bound to a role, which gives each node the rights of all.',
    remedy: 'Start kube-apiserver with --authorization-mode=Node,RBAC.',
    explains: ['Z07'],
  },
  views: [
    view({
      requiredArtifacts: ['controlPlane'],
      audit: ({ controlPlane }) =>
        controlPlane
          .filter(({ program }) => program === 'kube-apiserver')
          .filter(({ flags }) => flags[flag] !== undefined && !flags[flag].split(',').includes('Node'))
          .map(({ pod, flags }) => ({
            object: `Pod kube-system/${pod}`,
            everywhere: true,
            evidence: [{ value: flags[flag] ?? '', source: `${pod} --${flag}` }],
            cause: 'kube-apiserver runs without the Node authorizer.',
            fix: [
              {
                run: "sed -i 's/--authorization-mode=.*/--authorization-mode=Node,RBAC/' /etc/kubernetes/manifests/kube-apiserver.yaml",
                purpose: 'on each control-plane node',
              },
            ],
            verify: runDoctor,
          })),
    }),
  ],
}
