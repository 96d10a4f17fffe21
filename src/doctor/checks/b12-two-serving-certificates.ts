import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'

export const b12: Check = {
  meta: {
    id: 'B12',
    severity: 'warning',
    title: 'The kubelet has one source for its serving certificate',
    failureTitle: 'The kubelet has both a serving certificate of its own and one of the cluster configured',
    symptom: 'After a start it serves another certificate than after the first renewal.',
    description:
      '`tlsCertFile` and `serverTLSBootstrap: true` are both set; the file is used until the cluster has issued one.',
    remedy: 'Remove tlsCertFile and tlsPrivateKeyFile.',
  },
  views: [
    view({
      requiredArtifacts: ['kubeletConfig'],
      audit: ({ kubeletConfig: { path, serverTLSBootstrap, tlsCertFile } }) =>
        !serverTLSBootstrap || tlsCertFile === undefined
          ? []
          : [
              {
                object: path,
                evidence: [
                  { value: `serverTLSBootstrap: true and tlsCertFile: ${tlsCertFile}`, source: path },
                ],
                cause: 'Both ways are configured.',
                fix: [
                  {
                    run: `sed -i '/^tlsCertFile:/d; /^tlsPrivateKeyFile:/d' ${shellWord(path)}`,
                    purpose: 'on the node',
                  },
                  restartKubelet,
                ],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
