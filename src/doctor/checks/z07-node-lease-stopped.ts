import { formatAge, formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { showNode } from '../commands.ts'
import { isAlive, nodeLease } from '../node-lease.ts'

const day = 86_400_000

export const z07: Check = {
  meta: {
    id: 'Z07',
    severity: 'warning',
    title: 'Every node is alive',
    failureTitle: 'The Lease of a node is not renewed any more',
    symptom: 'The node is NotReady or Unknown.',
    description:
      'A kubelet renews the Lease of its name in kube-node-lease every ten seconds. One that stopped is off, cut off, or has no credential that the API takes. If it stays off for longer than its certificate lives it cannot come back by itself.',
    remedy: 'Look at the machine. Where nothing else is found for it, it is off or cut off.',
    reports: ['kubernetes/kubernetes#65991'],
  },
  views: [
    view({
      requiredArtifacts: ['nodes', 'nodeLeases'],
      audit({ nodes, nodeLeases }, now) {
        const leases = new Map(nodeLeases.map(lease => [lease.metadata.name, nodeLease(lease)]))
        return nodes.flatMap(({ metadata: { name } }) => {
          const lease = leases.get(name)
          // A Node without a Lease was made by hand or is just joining: nothing has stopped.
          if (lease?.renewed === undefined || isAlive(lease, now)) return []
          const silent = now - lease.renewed
          return {
            object: `Node ${name}`,
            node: name,
            evidence: [
              {
                value: `last renewed ${formatAge(silent)} ago`,
                source: `Lease kube-node-lease/${name} spec.renewTime`,
                at: formatTime(lease.renewed),
              },
            ],
            cause:
              silent > day
                ? 'It has been silent for more than a day.'
                : 'It went silent within the last day.',
            fix: [
              { run: `kubectl describe node ${shellWord(name)}`, purpose: 'shows its conditions' },
              { run: 'journalctl -u kubelet --since -10m', purpose: 'on the node' },
            ],
            verify: showNode(name),
          }
        })
      },
    }),
  ],
}
