import { formatAge } from '../../kube/time-format.ts'
import { type Check, view } from '../check.ts'
import { approveRequest, watchRequests } from '../commands.ts'
import type { RequestFacts } from '../request-facts.ts'

/** Milliseconds after which a kubelet gives a request up and makes another (K-36). */
const givenUp = 15 * 60_000

export const c11: Check = {
  meta: {
    id: 'C11',
    severity: 'warning',
    title: 'Of several requests of a node the newest is approved',
    failureTitle: 'A request was approved that its node had given up',
    symptom: 'The request shows "Approved,Issued", and the node goes on waiting.',
    description:
      'After 15 minutes without an answer a kubelet makes a new request, with a new key. Whoever approves an older one has a certificate issued for a key that nobody has any more, while the newest goes on waiting.',
    remedy: 'Approve the newest request of the node and delete the older ones.',
    explains: ['B14'],
    reports: ['kubernetes/kubernetes#51966', 'openshift/cluster-machine-approver#310'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit({ requests }, now) {
        const waiting = requests.filter(
          ({ newest, state, kind, node }) => newest && state === 'undecided' && kind && node !== undefined,
        )
        const approved = Map.groupBy(
          requests.filter(({ state }) => state === 'issued' || state === 'unsigned'),
          keyOf,
        )
        return waiting.flatMap(request => {
          const late = approved.get(keyOf(request))?.findLast(old => wasGivenUp(old, request))
          if (!late) return []
          return {
            object: `Node ${request.node}`,
            ...(request.node !== undefined && { node: request.node }),
            evidence: [
              {
                value: `approved after ${formatAge((late.decided ?? 0) - late.created)}`,
                source: `CertificateSigningRequest ${late.name}`,
              },
              {
                value: `undecided for ${formatAge(now - request.created)}`,
                source: `CertificateSigningRequest ${request.name}`,
              },
            ],
            cause: 'Somebody approved an older request than the one that the node waits for.',
            fix: [approveRequest(request.name)],
            verify: watchRequests,
          }
        })
      },
    }),
  ],
}

const keyOf = ({ node, kind }: RequestFacts) => `${kind} ${node}`

function wasGivenUp({ created, decided }: RequestFacts, newer: RequestFacts): boolean {
  return decided !== undefined && decided >= newer.created && decided - created >= givenUp
}
