import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { probeAgain, restartKubelet } from '../commands.ts'
import { dialledAt } from '../probe-facts.ts'

export const g01: Check = {
  meta: {
    id: 'G01',
    severity: 'critical',
    title: 'Nodes have a serving certificate',
    failureTitle: 'A node has no serving certificate to show',
    symptom: '`kubectl logs` and `exec` end with "remote error: tls: internal error".',
    description:
      'The kubelet answers the handshake with the alert internal_error as long as serverTLSBootstrap is on and nothing was issued. Why is another finding: a request that waits (C04, C05) or was never made (B10).',
    remedy: 'See why its request is not issued; where there is none, restart the kubelet.',
    reports: ['kubernetes/kubeadm#591', 'networkservicemesh/networkservicemesh#1143'],
  },
  views: [
    view({
      requiredArtifacts: ['probes'],
      audit: ({ probes }) =>
        probes
          .filter(({ failure }) => /internal.error/i.test(failure ?? ''))
          .map(probe => ({
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [{ value: probe.failure ?? '', ...dialledAt(probe) }],
            cause: 'Its kubelet waits for a serving certificate.',
            fix: [
              { run: `rollcall csr ls --node ${shellWord(probe.node)}`, purpose: 'shows its requests' },
              restartKubelet,
            ],
            verify: probeAgain,
          })),
    }),
  ],
}
