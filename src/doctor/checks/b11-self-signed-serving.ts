import { shellWord } from '../../survey/explanation.ts'
import { isKubeletSelfSigned } from '../../survey/serving-probes/serving-state.ts'
import { describe } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { probeAgain, restartKubelet } from '../commands.ts'
import { probedAt, probedLeaves, unanswered } from '../probe-facts.ts'

export const b11: Check = {
  meta: {
    id: 'B11',
    severity: 'warning',
    title: 'Nodes serve certificates of the cluster',
    failureTitle: 'A node serves a certificate that it signed itself',
    symptom: 'metrics-server works only with --kubelet-insecure-tls; Prometheus says "unknown authority".',
    description:
      'Without `serverTLSBootstrap` a kubelet makes its own CA (`HOST-ca@TIME`) and a certificate with its host name as the only SAN, for a year, and never renews it. Nobody can verify it.',
    remedy:
      'Run an approver first; then set serverTLSBootstrap: true on every node and restart the kubelets.',
    explains: ['G04', 'G05', 'G06', 'G10', 'G12'],
    reports: ['kubernetes/kubeadm#591', 'rancher/rke#2566', 'rancher/rancher#27783'],
  },
  views: [
    view({
      requiredArtifacts: ['probes'],
      unseen: unanswered,
      audit: ({ probes }) =>
        probedLeaves(probes)
          .filter(({ leaf }) => isKubeletSelfSigned(leaf))
          .map(({ probe, leaf }) => ({
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [{ value: `${describe(leaf)}, signed by itself`, ...probedAt(probe) }],
            cause: 'serverTLSBootstrap is off on the node.',
            fix: [
              {
                run: "sed -i '$ a serverTLSBootstrap: true' /var/lib/kubelet/config.yaml && systemctl restart kubelet",
                purpose: 'on the node, once an approver runs',
              },
            ],
            verify: probeAgain,
          })),
    }),
    view({
      requiredArtifacts: ['kubeletConfig'],
      audit: ({ kubeletConfig: { path, serverTLSBootstrap, tlsCertFile } }) =>
        serverTLSBootstrap || tlsCertFile !== undefined
          ? []
          : [
              {
                object: path,
                evidence: [
                  { value: 'serverTLSBootstrap is not true, and there is no tlsCertFile', source: path },
                ],
                cause: 'serverTLSBootstrap is off on the node.',
                fix: [
                  {
                    run: `sed -i '/^serverTLSBootstrap:/d; $ a serverTLSBootstrap: true' ${shellWord(path)}`,
                    purpose: 'on the node, once an approver runs',
                  },
                  restartKubelet,
                ],
                verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
              },
            ],
    }),
  ],
}
