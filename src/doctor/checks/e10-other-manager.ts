import { shellWord } from '../../survey/explanation.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'
import { currentName, currentPair, leafOf } from '../pair-files.ts'

export const e10: Check = {
  meta: {
    id: 'E10',
    severity: 'critical',
    title: 'One program manages the client certificate of the node',
    failureTitle: 'Two programs manage the client certificate of the node',
    symptom: 'After some renewals the node gets 401; its kubeconfig flips back with each run of a tool.',
    description:
      'The kubeconfig holds a newer certificate, for another key, than the pair that the kubelet renews: configuration management (Salt, Ansible) writes kubelet.conf, and the kubelet writes its own pairs. Whichever is not renewed ends first.',
    remedy: 'Take kubelet.conf and the certificate directory out of the configuration management.',
    reports: ['scality/metalk8s#2937'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeconfig', 'certDirectory'],
      audit({ kubeconfig, certDirectory }) {
        const [held] = readBundle(kubeconfig.certificate ?? '').certificates
        const current = leafOf(currentPair(certDirectory, 'client'))
        if (!held || !current || held.notBefore <= current.notBefore) return []
        if (Buffer.compare(held.spki, current.spki) === 0) return []
        const path = `${certDirectory.path}/${currentName('client')}`
        return [
          {
            object: kubeconfig.path,
            evidence: [
              { value: describe(held), source: kubeconfig.path },
              { value: `${describe(current)}, another key`, source: path },
            ],
            cause: 'Another program than the kubelet writes certificates into the kubeconfig.',
            fix: [
              {
                run: `kubectl config --kubeconfig ${shellWord(kubeconfig.path)} set-credentials default-auth --client-certificate=${shellWord(path)} --client-key=${shellWord(path)}`,
                purpose: 'on the node, after the tool was told to leave the file alone',
              },
              restartKubelet,
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
