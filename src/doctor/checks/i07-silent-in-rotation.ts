import { formatAge, formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { showNode } from '../commands.ts'
import { isAlive, nodeLease } from '../node-lease.ts'
import { isUnderWay } from '../rotations.ts'

export const i07: Check = {
  meta: {
    id: 'I07',
    severity: 'warning',
    title: 'Every node can answer while a CA is changed',
    failureTitle: 'A node is silent while a CA is changed',
    symptom: 'The rotation waits, or the node is left behind and cannot come back by itself.',
    description:
      'A rotation waits for each consumer to have loaded the new CA. A node whose Lease stopped cannot say so.',
    remedy: 'Bring the node back, or exclude it by name and bootstrap it anew later.',
    explains: ['Z07'],
    reports: ['Azure/AKS#1455'],
  },
  views: [
    view({
      requiredArtifacts: ['rotations', 'nodes', 'nodeLeases'],
      audit({ rotations, nodes, nodeLeases }, now) {
        const [rotation] = rotations.filter(isUnderWay)
        if (!rotation) return []
        const known = new Set(nodes.map(({ metadata }) => metadata.name))
        return nodeLeases.map(nodeLease).flatMap(lease => {
          const { node, renewed } = lease
          if (!known.has(node) || renewed === undefined || isAlive(lease, now)) return []
          return {
            object: `Node ${node}`,
            node,
            evidence: [
              {
                value: `last renewed ${formatAge(now - renewed)} ago`,
                source: `Lease kube-node-lease/${node} spec.renewTime`,
                at: formatTime(renewed),
              },
              { value: rotation.phase, source: `CARotation ${rotation.name} status.phase` },
            ],
            cause: `It cannot answer the rotation ${rotation.name}.`,
            fix: [
              { run: `rollcall ca status ${shellWord(rotation.name)}`, purpose: 'who it waits for' },
              {
                run: `rollcall ca exclude ${shellWord(rotation.name)} ${shellWord(node)} --reason 'off'`,
                purpose: 'leaves it behind, as `ca status` names it; it has to be bootstrapped anew',
              },
            ],
            verify: showNode(node),
          }
        })
      },
    }),
  ],
}
