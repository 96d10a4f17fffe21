import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'

export const e21: Check = {
  meta: {
    id: 'E21',
    severity: 'critical',
    title: 'The files that the kubeconfig names are there',
    failureTitle: 'The kubeconfig names files that are not there',
    symptom: 'The kubelet does not start: "unable to read client-cert".',
    description: 'The pki folder was lost or moved while the kubeconfig stayed.',
    remedy: 'Remove the kubeconfig, so that the node bootstraps anew.',
    explains: ['E11'],
    reports: ['kubernetes/kubernetes#53288'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeconfig'],
      audit: ({ kubeconfig: { path, missingFiles = [] } }) =>
        missingFiles.length === 0
          ? []
          : [
              {
                object: path,
                evidence: missingFiles.map(file => ({ value: `${file} cannot be read`, source: path })),
                cause: 'The kubeconfig outlived the files that it names.',
                fix: [{ run: `rm ${shellWord(path)}`, purpose: 'on the node' }, createToken, restartKubelet],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
