import { parseIp } from '../../x509/ip.ts'
import { nameCheck } from '../name-mismatches.ts'

export const g04 = nameCheck(
  {
    id: 'G04',
    title: 'Serving certificates hold IP addresses',
    failureTitle: 'A serving certificate holds no IP address',
    symptom: '"x509: cannot validate certificate for A because it doesn\'t contain any IP SANs".',
    description:
      'kube-apiserver, metrics-server and Prometheus dial an address; a certificate for the host name alone is good for none. It was issued before the Node had an address, or the kubelet signed it itself.',
    remedy: 'Turn on serverTLSBootstrap with an approver; do not turn off verification in the clients.',
  },
  'Its SANs hold names only.',
  (leaf, host) => parseIp(host) !== undefined && leaf.subjectAltName.ipAddresses.length === 0,
)
