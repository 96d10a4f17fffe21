import { formatAge, formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { describe } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { probeAgain, restartKubelet } from '../commands.ts'
import { currentName, currentPair, leafOf } from '../pair-files.ts'
import { probedAt, probedLeaves, unanswered } from '../probe-facts.ts'

const fix = [
  {
    run: 'rm -f /var/lib/kubelet/pki/kubelet.crt /var/lib/kubelet/pki/kubelet.key',
    purpose: 'on the node, where it serves a certificate that it signed itself',
  },
  restartKubelet,
]

export const g07: Check = {
  meta: {
    id: 'G07',
    severity: 'critical',
    title: 'Serving certificates are valid',
    failureTitle: 'A serving certificate has expired',
    symptom: 'Logs, exec and metrics of the node end with "x509: certificate has expired".',
    description:
      'A self-signed one lives a year and is never renewed; one of the cluster is renewed only while its requests are approved.',
    remedy: 'Restart the kubelet so that it makes or asks for a new one; see that requests are approved.',
    explains: ['B11', 'G05'],
    reports: ['rancher/rancher#27783'],
  },
  views: [
    view({
      requiredArtifacts: ['probes'],
      unseen: unanswered,
      audit: ({ probes }, now) =>
        probedLeaves(probes)
          .filter(({ leaf }) => now > leaf.notAfter)
          .map(({ probe, leaf }) => ({
            object: `Node ${probe.node}`,
            node: probe.node,
            evidence: [
              {
                value: `${describe(leaf)}, expired ${formatAge(now - leaf.notAfter)} ago`,
                ...probedAt(probe),
              },
            ],
            cause: 'It was not renewed before it ended.',
            fix,
            verify: probeAgain,
          })),
    }),
    view({
      requiredArtifacts: ['certDirectory'],
      audit({ certDirectory }, now) {
        const leaf = leafOf(currentPair(certDirectory, 'serving'))
        if (!leaf || now <= leaf.notAfter) return []
        const path = `${certDirectory.path}/${currentName('serving')}`
        return [
          {
            object: path,
            evidence: [
              {
                value: `expired ${formatTime(leaf.notAfter)}, ${formatAge(now - leaf.notAfter)} ago`,
                source: path,
              },
            ],
            cause: 'It was not renewed before it ended.',
            fix: [restartKubelet],
            verify: { run: `rollcall certs show ${shellWord(path)}`, purpose: 'shows a new certificate' },
          },
        ]
      },
    }),
  ],
}
