import { csrCondition } from '../../kube/csr-conditions.ts'
import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { showRequest, watchRequests } from '../commands.ts'
import { objectedRequests } from '../objections.ts'

/** Who denied may know more than the Nodes show, like the range of Services. */
const isAnothers = (reason: string | undefined) => reason === 'ReservedName' || reason === 'OwnedByOtherNode'

export const c05: Check = {
  meta: {
    id: 'C05',
    severity: 'critical',
    title: 'Serving requests ask for names that their Node has',
    failureTitle: 'A node asks to be certified for a name or address that is not its own',
    symptom: 'The request is denied, or waits for ever; logs and exec end with "tls: internal error".',
    description:
      'The doctor compares every SAN with the addresses of the Node, and with those of all others. A stale or a NAT address is a mistake; the address of another Node or of a Service is what a stolen kubelet would ask for.',
    remedy:
      'Correct the addresses of the Node (--node-ip, cloud controller), or treat it as an attack. Do not approve it by hand unless you know the address.',
    explains: ['C04', 'B14', 'G01', 'G06', 'C09'],
    reports: ['alex1989hu/kubelet-serving-cert-approver#337', 'kubernetes/kubernetes#50635'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit: ({ requests }, now) =>
        objectedRequests(
          requests,
          ['SanUnproven', 'OwnedByOtherNode', 'ReservedName', 'InvalidSan'],
          now,
        ).map(({ request: { csr, name, node, objection }, evidence }) => ({
          object: `CertificateSigningRequest ${name}`,
          ...(node !== undefined && { node }),
          evidence,
          cause:
            objection?.code === 'SanUnproven' && !isAnothers(csrCondition(csr, 'Denied')?.reason)
              ? 'The node asks for a name or address that is not in its status.addresses.'
              : 'The node asks for a name or address that belongs to somebody else.',
          fix: [
            {
              run: `kubectl get node ${shellWord(node ?? '')} -o jsonpath='{.status.addresses}'`,
              purpose:
                'shows what the Node claims; correct --node-ip or the cloud controller where that is wrong',
            },
            showRequest(name),
          ],
          verify: watchRequests,
        })),
    }),
  ],
}
