import { nameCheck } from '../name-mismatches.ts'

export const g05 = nameCheck(
  {
    id: 'G05',
    title: 'Serving certificates hold the address that clients dial',
    failureTitle: 'A serving certificate lacks the address that clients dial',
    symptom: '"x509: certificate is valid for A, not B".',
    description:
      'kube-apiserver, metrics-server and Prometheus dial the InternalIP of the Node. The certificate was issued before the Node had that address, or for a host name alone.',
    remedy: 'Have the node ask again with its present addresses; correct --node-ip where those are wrong.',
  },
  'The address that clients dial is not among its SANs.',
  // Without any address it is another fault (G04).
  leaf => leaf.subjectAltName.ipAddresses.length > 0,
)
