import { formatAge, formatTime } from '../../kube/time-format.ts'
import { formatName } from '../../x509/name.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const d07: Check = {
  meta: {
    id: 'D07',
    severity: 'warning',
    title: 'The CA outlives what it issues',
    failureTitle: 'Certificates are cut off by the end of the CA',
    symptom: 'Nodes renew more and more often; all certificates end at the same moment.',
    description: 'A certificate never outlives its CA: the signer cuts it off at the end of the CA.',
    remedy: 'Rotate the CA now: from its end on nothing is valid.',
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'rootCertificates'],
      audit({ requests, rootCertificates }, now) {
        const texts = new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))
        const authorities = [...texts].flatMap(pem => readBundle(pem).certificates)
        const ends = new Map(authorities.map(ca => [`${formatName(ca.subject)} ${ca.notAfter}`, ca]))
        return requests.flatMap(({ issued, name, node }) => {
          if (!issued?.ok || now > issued.value.notAfter) return []
          const ca = ends.get(`${formatName(issued.value.issuer)} ${issued.value.notAfter}`)
          if (!ca) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `ends ${formatTime(issued.value.notAfter)}, as its CA ${formatName(ca.subject)} does`,
                source: `CertificateSigningRequest ${name} status.certificate`,
              },
            ],
            cause: `The CA ${formatName(ca.subject)} has only ${formatAge(ca.notAfter - now)} left.`,
            fix: [
              {
                run: 'rollcall certs show /etc/kubernetes/pki/ca.crt',
                purpose: 'on a control-plane node: the CA to rotate',
              },
            ],
            verify: { run: 'rollcall certs ls', purpose: 'shows what is issued from then on' },
          }
        })
      },
    }),
  ],
}
