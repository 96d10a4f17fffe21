import { shellWord } from '../../survey/explanation.ts'
import { nodeOfSubject } from '../../survey/node-identity.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'
import { currentPairs, leafOf } from '../pair-files.ts'

export const b02: Check = {
  meta: {
    id: 'B02',
    severity: 'critical',
    title: 'All that a node holds is for one name',
    failureTitle: 'A node holds certificates of two nodes',
    symptom: 'Requests are refused with 403 "can only create a node CSR with CN=system:node:X".',
    description:
      'A machine was renamed, or its image was taken from another node: it asks for its new name with the certificate of the old one, which NodeRestriction forbids.',
    remedy: 'Remove the pairs and the kubeconfig of the old name and bootstrap the node anew.',
    reports: ['kubernetes/kubernetes#47695', 'alex1989hu/kubelet-serving-cert-approver#93'],
  },
  views: [
    view({
      requiredArtifacts: ['certDirectory', 'kubeconfig'],
      audit({ certDirectory, kubeconfig }) {
        const held = currentPairs(certDirectory).map(({ file, path }) => ({ path, leaf: leafOf(file) }))
        const [inKubeconfig] = readBundle(kubeconfig.certificate ?? '').certificates
        const names = [...held, { path: kubeconfig.path, leaf: inKubeconfig }].flatMap(({ path, leaf }) => {
          const node = leaf && nodeOfSubject(leaf.subject)
          return node === undefined ? [] : [{ path, node }]
        })
        if (new Set(names.map(({ node }) => node)).size < 2) return []
        return [
          {
            object: certDirectory.path,
            evidence: names.map(({ path, node }) => ({ value: `CN=system:node:${node}`, source: path })),
            cause: 'The machine was renamed, or carries the pairs of the node that its image was taken from.',
            fix: [
              {
                run: `rm ${shellWord(certDirectory.path)}/kubelet-*.pem ${shellWord(kubeconfig.path)}`,
                purpose: 'on the node',
              },
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
