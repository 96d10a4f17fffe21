import { formatAge } from '../../kube/time-format.ts'
import { CONTROLLER_PATIENCE } from '../../survey/csr-facts.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const d03: Check = {
  meta: {
    id: 'D03',
    severity: 'critical',
    title: 'The CA that signs is valid',
    failureTitle: 'Nothing is signed because the CA has expired',
    symptom: 'Requests stay "Approved"; the signer logs "the signer has expired".',
    description:
      'Approved requests stay unsigned, and every CA that the cluster publishes has expired. Signers refuse to sign with an expired CA, and nothing signed by it is believed any more.',
    remedy: 'Make a new CA and distribute it: see the guide for a CA that expired.',
    explains: ['D01', 'I11', 'I09', 'B14', 'E18', 'D02'],
    reports: ['kubernetes/kubernetes#102283'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'rootCertificates'],
      audit({ requests, rootCertificates }, now) {
        const waiting = requests.filter(
          ({ state, decided, created }) =>
            state === 'unsigned' && now - (decided ?? created) > CONTROLLER_PATIENCE,
        )
        const texts = new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))
        const authorities = [...texts].flatMap(pem => readBundle(pem).certificates)
        if (waiting.length === 0 || authorities.length === 0) return []
        if (authorities.some(({ notAfter }) => now <= notAfter)) return []
        return [
          {
            object: 'the cluster CA',
            everywhere: true,
            evidence: [
              ...authorities.slice(0, 3).map(ca => ({
                value: `${describe(ca)}, expired ${formatAge(now - ca.notAfter)} ago`,
                source: 'ConfigMap kube-root-ca.crt',
              })),
              { value: `${waiting.length} approved and unsigned`, source: 'CertificateSigningRequests' },
            ],
            cause: 'The validity of the CA is over.',
            fix: [
              {
                run: 'kubeadm init phase certs ca',
                purpose:
                  'after moving ca.crt and ca.key away; then issue everything below it again and join the nodes anew',
              },
            ],
            verify: {
              run: 'rollcall certs show /etc/kubernetes/pki/ca.crt',
              purpose: 'shows the new validity',
            },
          },
        ]
      },
    }),
  ],
}
