import { isKubeletSelfSigned } from '../../survey/serving-probes/serving-state.ts'
import { describe } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { probeAgain } from '../commands.ts'
import { probedAt, probedLeaves } from '../probe-facts.ts'

const flag = 'kubelet-certificate-authority'

export const g02: Check = {
  meta: {
    id: 'G02',
    severity: 'critical',
    title: 'Nodes serve what the API server verifies',
    failureTitle: 'The API server verifies kubelets that sign for themselves',
    symptom: 'Logs and exec end with "x509: certificate signed by unknown authority".',
    description:
      'kube-apiserver runs with --kubelet-certificate-authority, and a node still serves a certificate that it signed itself: the flag was set before every node had its certificate.',
    remedy: 'Set serverTLSBootstrap and run an approver on every node first, then the flag.',
    explains: ['B11'],
  },
  views: [
    view({
      requiredArtifacts: ['controlPlane', 'probes'],
      audit({ controlPlane, probes }) {
        const verifying = controlPlane.find(({ flags }) => flags[flag] !== undefined)
        if (!verifying) return []
        return probedLeaves(probes)
          .filter(({ leaf }) => isKubeletSelfSigned(leaf))
          .map(({ probe, leaf }) => ({
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [
              { value: `${describe(leaf)}, signed by itself`, ...probedAt(probe) },
              { value: verifying.flags[flag] ?? '', source: `${verifying.pod} --${flag}` },
            ],
            cause: 'The API server verifies kubelets, and this one has no certificate of the cluster.',
            fix: [
              {
                run: "sed -i '$ a serverTLSBootstrap: true' /var/lib/kubelet/config.yaml && systemctl restart kubelet",
                purpose: 'on the node, once an approver runs',
              },
            ],
            verify: probeAgain,
          }))
      },
    }),
  ],
}
