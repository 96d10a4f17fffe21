import { shellWord } from '../../survey/explanation.ts'
import { nodeOfSubject } from '../../survey/node-identity.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'
import { currentName, currentPair, leafOf } from '../pair-files.ts'

export const b03: Check = {
  meta: {
    id: 'B03',
    severity: 'critical',
    title: 'The certificate is for the name that the kubelet uses',
    failureTitle: 'The certificate is for another name than the kubelet uses',
    symptom: 'The API answers 403 "node A cannot modify node B"; the Node goes NotReady.',
    description:
      'The kubelet calls itself by --hostname-override, else by its host name in lower case. Its certificate is for another name: the host was renamed, the override was changed, or a cloud provider names nodes differently.',
    remedy: 'Give the host its old name back, or bootstrap the node anew under the new one.',
    reports: ['kubernetes/kubernetes#47695', 'kubernetes/kubernetes#54482', 'kubernetes/kubernetes#48687'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory', 'nodeName', 'kubeletConfig'],
      audit({ certDirectory, nodeName: { name, source } }) {
        const leaf = leafOf(currentPair(certDirectory, 'client'))
        const certified = leaf && nodeOfSubject(leaf.subject)
        if (certified === undefined || certified === name) return []
        const path = `${certDirectory.path}/${currentName('client')}`
        return [
          {
            object: path,
            evidence: [
              { value: `CN=system:node:${certified}`, source: path },
              { value: name, source },
            ],
            cause: 'The host was renamed, or the kubelet was told another name.',
            fix: [
              {
                run: `hostnamectl hostname ${shellWord(certified)}`,
                purpose: 'on the node: its old name; or',
              },
              { run: `rm ${shellWord(certDirectory.path)}/kubelet-*.pem`, purpose: 'on the node: join anew' },
              createToken,
              restartKubelet,
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
