import { formatAge, formatTime } from '../../kube/time-format.ts'
import { CONTROLLER_PATIENCE, controllerLease, isRollcall } from '../../survey/csr-facts.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { type Check, view } from '../check.ts'
import { approveRequest, showRequest, watchRequests } from '../commands.ts'
import { leaseLines } from '../lease-lines.ts'

export const c04: Check = {
  meta: {
    id: 'C04',
    severity: 'critical',
    title: 'Requests for serving certificates are decided',
    failureTitle: 'A request for a serving certificate waits for an approver',
    symptom: '`kubectl logs`, `exec` and `top` end with "remote error: tls: internal error" for the node.',
    description:
      'Kubernetes never approves requests of signer kubernetes.io/kubelet-serving itself: a human or an approver must. By default none is there. The finding shows the names asked for; compare them with the addresses of the Node before you approve.',
    remedy: 'Run an approver that compares SANs with the Node (`rollcall controller`), or approve by hand.',
    explains: ['G01', 'G06', 'B14', 'E18', 'B11', 'G04', 'G07'],
    reports: ['kubernetes/kubeadm#591', 'kelseyhightower/kubernetes-the-hard-way#441'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      optionalArtifacts: ['controllerLeases'],
      audit: ({ requests, controllerLeases }, now) =>
        requests
          .filter(({ kind, state, newest }) => kind === 'serving' && state === 'undecided' && newest)
          .filter(({ created }) => now - created > CONTROLLER_PATIENCE)
          // Nobody waits for what a node that is gone left behind (C10).
          .filter(({ objection }) => objection?.code !== 'NodeNotFound')
          .map(({ name, node, created, asked }) => {
            const ours = controllerLeases?.filter(({ metadata }) => isRollcall(metadata.name))
            const live = ours?.some(lease => controllerLease(lease, now).live)
            return {
              object: `CertificateSigningRequest ${name}`,
              ...(node !== undefined && { node }),
              evidence: [
                {
                  value: `undecided for ${formatAge(now - created)}`,
                  source: `CertificateSigningRequest ${name} status.conditions`,
                  at: formatTime(created),
                },
                {
                  value: asked.ok ? namesIn(asked.value.subjectAltName).join(', ') : asked.problem,
                  source: `CertificateSigningRequest ${name} spec.request`,
                },
                ...leaseLines(ours, now),
              ],
              cause: live
                ? 'An approver runs, but it has not decided.'
                : 'By design Kubernetes leaves these to an approver, and none was seen running.',
              fix: [
                showRequest(name),
                approveRequest(name),
                { run: 'rollcall controller --only approval', purpose: 'approves what the Node proves' },
              ],
              verify: watchRequests,
            }
          }),
    }),
  ],
}
