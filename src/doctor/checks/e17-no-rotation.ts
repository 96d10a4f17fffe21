import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { rotateOn } from '../kubelet-config-fix.ts'

export const e17: Check = {
  meta: {
    id: 'E17',
    severity: 'warning',
    title: 'The kubelet renews its client certificate',
    failureTitle: 'The kubelet does not renew its client certificate',
    symptom: 'Nothing, until the certificate ends and the node with it.',
    description: '`rotateCertificates` is false in the configuration of the kubelet, which is its default.',
    remedy: 'Set rotateCertificates: true.',
    explains: ['E18'],
    reports: ['deckhouse/deckhouse#8245'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeletConfig'],
      audit: ({ kubeletConfig: { path, rotateCertificates } }) =>
        rotateCertificates
          ? []
          : [
              {
                object: path,
                everywhere: true,
                evidence: [{ value: 'rotateCertificates is not true', source: path }],
                cause: 'Rotation is switched off.',
                fix: [rotateOn(path), restartKubelet],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
