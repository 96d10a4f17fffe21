import { formatAge } from '../../kube/time-format.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'
import { latestIssued } from '../node-certificates.ts'

/** Share of its life that is left at the latest moment at which a kubelet renews (K-33). */
const leftAtLatest = 0.1
/** Milliseconds: two of a kubelet's attempts, each of which waits a quarter of an hour (K-36). */
const leastForRepair = 30 * 60_000

export const e19: Check = {
  meta: {
    id: 'E19',
    severity: 'warning',
    title: 'Certificates live long enough for a failed renewal to be repeated',
    failureTitle: 'Certificates live so briefly that one failed renewal costs the node',
    symptom: 'A short outage of approver, signer or API is enough for nodes to lose their certificates.',
    description:
      'A node renews when 70 to 90 % of the life is over. Of this life the last tenth is less than half an hour, which is less than two attempts of a kubelet: whatever is down then has to be back within minutes.',
    remedy: 'Let the signer issue for longer: five hours or more leave two attempts at the least.',
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }) =>
        [...latestIssued(requests, 'client'), ...latestIssued(requests, 'serving')]
          .filter(({ certificate: { notBefore, notAfter } }) => {
            return (notAfter - notBefore) * leftAtLatest < leastForRepair
          })
          .map(({ node, certificate: { notBefore, notAfter }, request }) => ({
            object: `Node ${node}`,
            node,
            evidence: [
              {
                value: `lives for ${formatAge(notAfter - notBefore)}`,
                source: `CertificateSigningRequest ${request.name} status.certificate`,
              },
            ],
            cause: 'The cap of the signer is low.',
            fix: [
              {
                run: 'grep cluster-signing-duration /etc/kubernetes/manifests/kube-controller-manager.yaml',
                purpose: 'on a control-plane node; or --cert-lifetime of rollcall controller',
              },
            ],
            verify: runDoctor,
          })),
    }),
  ],
}
