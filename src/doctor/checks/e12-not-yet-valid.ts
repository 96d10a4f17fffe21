import { formatAge, formatTime } from '../../kube/time-format.ts'
import { type Check, view } from '../check.ts'
import { latestIssued } from '../node-certificates.ts'
import { currentPairs, leafOf } from '../pair-files.ts'

const fix = [
  { run: 'timedatectl', purpose: 'on the node and on the control plane: which clock is wrong?' },
  { run: 'chronyc makestep', purpose: 'sets a clock that NTP knows better' },
]
const cause = 'The clock that issued it is ahead of the one that reads it.'
/** Milliseconds: clocks are never quite alike, and whole seconds are compared. */
const slack = 60_000

export const e12: Check = {
  meta: {
    id: 'E12',
    severity: 'critical',
    title: 'Certificates are valid already',
    failureTitle: 'A certificate is not valid yet',
    symptom:
      '"x509: certificate has expired or is not yet valid"; the kubelet itself takes the certificate for good.',
    description: 'Certificates are backdated by five minutes, so the clocks differ by more than that.',
    remedy: 'Correct the clock; wait, or have the certificate issued again.',
    explains: ['E13'],
    reports: ['kubernetes/kubernetes#76714', 'k3s-io/k3s#5163', 'aws/eks-anywhere#9040'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        [...latestIssued(requests, 'client'), ...latestIssued(requests, 'serving')]
          .filter(({ certificate }) => certificate.notBefore > now + slack)
          .map(({ node, certificate: { notBefore }, request }) => ({
            object: `CertificateSigningRequest ${request.name}`,
            node,
            evidence: [
              {
                value: `valid from ${formatTime(notBefore)}, in ${formatAge(notBefore - now)}`,
                source: `CertificateSigningRequest ${request.name} status.certificate`,
              },
            ],
            cause,
            fix,
            verify: { run: 'rollcall doctor', purpose: 'compares the clocks' },
          })),
    }),
    view({
      requiredArtifacts: ['certDirectory'],
      audit: ({ certDirectory }, now) =>
        currentPairs(certDirectory).flatMap(({ file, path }) => {
          const leaf = leafOf(file)
          if (!leaf || leaf.notBefore <= now) return []
          return {
            object: path,
            evidence: [
              {
                value: `valid from ${formatTime(leaf.notBefore)}, in ${formatAge(leaf.notBefore - now)}`,
                source: path,
              },
            ],
            cause,
            fix,
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          }
        }),
    }),
  ],
}
