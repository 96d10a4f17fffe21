import { formatAge, formatTime } from '../../kube/time-format.ts'
import { CONTROLLER_PATIENCE, controllerLease } from '../../survey/csr-facts.ts'
import { type Check, view } from '../check.ts'
import { approveRequest, watchRequests } from '../commands.ts'
import { accessKey, questionOf } from '../gather/access.ts'
import { leaseLines } from '../lease-lines.ts'

export const c03: Check = {
  meta: {
    id: 'C03',
    severity: 'critical',
    title: 'Client requests that may be approved are approved',
    failureTitle: 'Nobody approves client certificates of nodes',
    symptom: 'Client requests stay Pending although the roles for them are bound.',
    description:
      'Nothing stands against the request, and it has waited for longer than a minute: the controller csrapproving of kube-controller-manager, or Rollcall in its place, does not run or does not keep up.',
    remedy: 'Start kube-controller-manager with csrapproving, or run `rollcall controller`.',
    explains: ['B14', 'E18'],
    reports: ['kubernetes/kubernetes#61345'],
  },
  views: [
    view({
      requiredArtifacts: ['canary'],
      audit: ({ canary: { request, ended, took, message } }) =>
        ended !== 'undecided' && ended !== 'denied'
          ? []
          : [
              {
                object: `CertificateSigningRequest ${request}`,
                evidence: [
                  {
                    value: `${ended} after ${formatAge(took)}${message === undefined ? '' : `, ${message}`}`,
                    source: 'the canary: a renewal asked for as system:node:rollcall-canary',
                  },
                ],
                cause:
                  ended === 'denied'
                    ? 'An approver refuses what any node may have: the renewal of its own client certificate.'
                    : 'Nobody decides the renewal of a client certificate.',
                fix: [{ run: 'rollcall controller --only approval', purpose: 'approves by policy' }],
                verify: { run: 'rollcall doctor --canary', purpose: 'finds nothing any more' },
              },
            ],
    }),
    view({
      requiredArtifacts: ['requests', 'requesterAccess'],
      optionalArtifacts: ['controllerLeases'],
      audit({ requests, requesterAccess, controllerLeases }, now) {
        const allowed = new Set(requesterAccess.filter(answer => answer.allowed).map(accessKey))
        return requests.flatMap(request => {
          const { name, node, created, newest, state } = request
          const question = state === 'undecided' && newest ? questionOf(request) : undefined
          if (!question || now - created <= CONTROLLER_PATIENCE || !allowed.has(accessKey(question)))
            return []
          const live = controllerLeases?.some(lease => controllerLease(lease, now).live)
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `undecided for ${formatAge(now - created)}`,
                source: `CertificateSigningRequest ${name}`,
                at: formatTime(created),
              },
              { value: `${question.purpose} is allowed`, source: 'SubjectAccessReview' },
              ...leaseLines(controllerLeases, now),
            ],
            cause: live
              ? 'A controller runs, but it does not approve: csrapproving is switched off or cannot write.'
              : 'No controller that approves client requests was seen running.',
            fix: [
              { run: 'rollcall controller --only approval', purpose: 'approves by policy' },
              approveRequest(name),
            ],
            verify: watchRequests,
          }
        })
      },
    }),
  ],
}
