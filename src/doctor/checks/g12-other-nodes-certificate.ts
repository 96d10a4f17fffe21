import { nodeOfSubject } from '../../survey/node-identity.ts'
import { formatName } from '../../x509/name.ts'
import { type Check, view } from '../check.ts'
import { probeAgain, restartKubelet } from '../commands.ts'
import { probedAt, probedLeaves, unanswered } from '../probe-facts.ts'

export const g12: Check = {
  meta: {
    id: 'G12',
    severity: 'warning',
    title: 'At the address of a Node, that node answers',
    failureTitle: 'At the address of a Node another one answers',
    symptom: 'Logs and exec reach the wrong machine.',
    description:
      'The serving certificate at the address of a Node names another node: the address was given to a new machine, or one machine answers for another. The old certificate stays good for the address until it expires.',
    remedy: 'Correct the addresses of the Nodes; keep serving certificates short where addresses are reused.',
    reports: ['kubernetes/kubernetes#50635', 'kubernetes/enhancements#4911'],
  },
  views: [
    view({
      requiredArtifacts: ['probes'],
      unseen: unanswered,
      audit: ({ probes }) =>
        probedLeaves(probes).flatMap(({ probe, leaf }) => {
          const named = nodeOfSubject(leaf.subject)
          if (named === undefined || named === probe.node) return []
          return {
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [{ value: formatName(leaf.subject), ...probedAt(probe) }],
            cause: `Node ${named} answers at the address of Node ${probe.node}.`,
            fix: [
              { run: 'kubectl get nodes -o wide', purpose: 'which Node has a stale address?' },
              restartKubelet,
            ],
            verify: probeAgain,
          }
        }),
    }),
  ],
}
