import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { rotateOn } from '../kubelet-config-fix.ts'

export const a19: Check = {
  meta: {
    id: 'A19',
    severity: 'warning',
    title: 'Static pods do not wait for a certificate',
    failureTitle: 'Static pods wait until the node has its certificate',
    symptom: 'After a boot no static pod runs as long as the API cannot be reached.',
    description:
      'With a bootstrap kubeconfig and `rotateCertificates: false`, the default of the kubelet, it asks for its certificate before it starts anything else, and waits for the answer.',
    remedy: 'Set rotateCertificates: true; it then bootstraps in the background.',
    explains: ['E17'],
    reports: ['kubernetes/kubernetes#68686', 'kubernetes/kubernetes#58930', 'kubernetes/kubeadm#173'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeletConfig', 'bootstrapKubeconfig'],
      audit: ({ kubeletConfig: { path, rotateCertificates }, bootstrapKubeconfig }) =>
        rotateCertificates || bootstrapKubeconfig.missing
          ? []
          : [
              {
                object: path,
                everywhere: true,
                evidence: [
                  { value: 'rotateCertificates is not true', source: path },
                  { value: 'is there', source: bootstrapKubeconfig.path },
                ],
                cause: 'The kubelet bootstraps in the foreground unless it rotates.',
                fix: [rotateOn(path), restartKubelet],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
