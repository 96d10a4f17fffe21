import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

/** The first minor version whose kubelet asks by certificates.k8s.io/v1; v1beta1 is served until 1.21. */
const firstMinor = 19

export const b15: Check = {
  meta: {
    id: 'B15',
    severity: 'warning',
    title: 'Kubelets ask for certificates in a version that the API serves',
    failureTitle: 'A kubelet asks for certificates in a version that the API does not serve',
    symptom: 'The kubelet logs "the server could not find the requested resource"; it makes no request.',
    description:
      'Before 1.19 kubelets asked by certificates.k8s.io/v1beta1, which was removed with 1.22. Such a node works until its certificate ends and cannot renew it.',
    remedy: 'Upgrade the kubelet.',
    explains: ['E18'],
  },
  views: [
    view({
      requiredArtifacts: ['nodes'],
      audit: ({ nodes }) =>
        nodes.flatMap(({ metadata: { name }, status }) => {
          const version = status?.nodeInfo?.kubeletVersion ?? ''
          const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
          if (major !== '1' || Number(minor) >= firstMinor) return []
          return {
            object: `Node ${name}`,
            node: name,
            evidence: [{ value: version, source: `Node ${name} status.nodeInfo.kubeletVersion` }],
            cause: `A kubelet before 1.${firstMinor} asks by certificates.k8s.io/v1beta1.`,
            fix: [
              {
                run: `kubectl drain ${shellWord(name)} --ignore-daemonsets`,
                purpose: 'then upgrade its kubelet',
              },
            ],
            verify: runDoctor,
          }
        }),
    }),
  ],
}
