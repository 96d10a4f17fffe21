import { type Check, view } from '../check.ts'
import { probeAgain } from '../commands.ts'
import { dialledAt, isUnreachable } from '../probe-facts.ts'

export const z03: Check = {
  meta: {
    id: 'Z03',
    severity: 'warning',
    title: 'Kubelets can be reached',
    failureTitle: 'A node that is Ready does not answer on the port of its kubelet',
    symptom: 'Prometheus and metrics-server have no figures of the node, so alerts about it cannot fire.',
    description:
      'The node says that it is Ready, but from where the doctor runs there is no connection to its kubelet: a firewall, another address, or a port that is not 10250. That a kubelet has no certificate is another finding (G01).',
    remedy: 'Look at the addresses of the Node and at firewalls between.',
  },
  views: [
    view({
      requiredArtifacts: ['probes', 'nodes'],
      audit({ probes, nodes }) {
        const ready = new Set(
          nodes
            .filter(({ status }) =>
              status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
            )
            .map(({ metadata }) => metadata.name),
        )
        return probes
          .filter(probe => ready.has(probe.node) && isUnreachable(probe))
          .map(probe => ({
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [{ value: probe.failure ?? '', ...dialledAt(probe) }],
            cause: 'There is no connection to the kubelet from here.',
            fix: [
              {
                run: 'kubectl get nodes -o wide',
                purpose: 'is the address the one that others reach the node at?',
              },
            ],
            verify: probeAgain,
          }))
      },
    }),
  ],
}
