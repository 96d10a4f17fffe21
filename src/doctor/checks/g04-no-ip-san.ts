import { parseIp } from '../../x509/ip.ts'
import { type Check, view } from '../check.ts'
import { nameMismatches } from '../name-mismatches.ts'

export const g04: Check = {
  meta: {
    id: 'G04',
    severity: 'critical',
    title: 'Serving certificates hold IP addresses',
    failureTitle: 'A serving certificate holds no IP address',
    symptom: '"x509: certificate is valid for A, not B".',
    description:
      'kube-apiserver, metrics-server and Prometheus dial an address; a certificate for the host name alone is good for none. It was issued before the Node had an address, or the kubelet signed it itself.',
    remedy: 'Turn on serverTLSBootstrap with an approver; do not turn off verification in the clients.',
    explains: ['G06'],
    reports: [
      'kubernetes/kubernetes#59372',
      'kubernetes/kubernetes#50371',
      'kelseyhightower/kubernetes-the-hard-way#146',
    ],
  },
  views: [
    view({
      requiredArtifacts: ['probes'],
      audit: ({ probes }) =>
        nameMismatches(
          probes,
          'Its SANs hold names only.',
          (leaf, host) => parseIp(host) !== undefined && leaf.subjectAltName.ipAddresses.length === 0,
        ),
    }),
  ],
}
