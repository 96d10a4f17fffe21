import { formatAge } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'
import type { RequestFacts } from '../request-facts.ts'

/** Milliseconds that an approver that works may need for one of many. */
const patience = 5 * 60_000
/** Nodes that wait together: fewer have each a reason of their own. */
const crowd = 100
const hour = 3_600_000

export const c15: Check = {
  meta: {
    id: 'C15',
    severity: 'critical',
    title: 'The approver keeps up',
    failureTitle: 'The approver has stopped deciding for everybody',
    symptom: 'Many nodes wait at the same time; earlier requests of the same kind were approved.',
    description:
      'More than a hundred nodes have waited for over five minutes, although an approver decided such requests within the last hour. Some approvers stop for everybody above a number of open requests, and abandoned ones count: one storm then blocks the fleet.',
    remedy:
      'Deny or delete the requests that are not the newest of their node; raise the limit of the approver.',
    explains: ['C03', 'C04', 'B14'],
    reports: ['openshift/cluster-machine-approver#310', 'openshift/cluster-machine-approver#31'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit({ requests }, now) {
        return (['client', 'serving'] as const).flatMap(kind => {
          const of = requests.filter(request => request.kind === kind)
          const waiting = of.filter(
            ({ state, newest, created }) => state === 'undecided' && newest && now - created > patience,
          )
          const last = lastDecision(of, now)
          if (waiting.length <= crowd || !last) return []
          const [oldest] = waiting
          const abandoned = of.filter(({ state, newest }) => state === 'undecided' && !newest).length
          return {
            object: `${kind} requests`,
            everywhere: true,
            evidence: [
              {
                value: `${waiting.length} nodes wait, the first for ${formatAge(now - (oldest?.created ?? now))}; ${abandoned} requests are given up`,
                source: 'CertificateSigningRequests',
              },
              {
                value: `the last decision was ${formatAge(now - (last.decided ?? now))} ago`,
                source: `CertificateSigningRequest ${last.name} status.conditions`,
              },
            ],
            cause: 'An approver decided such requests within the last hour and has stopped.',
            fix: [
              {
                run: `rollcall csr ls --pending --signer ${shellWord(kind)}`,
                purpose: 'shows them, oldest first; the newest of each node is the one to approve',
              },
              {
                run: 'rollcall controller --only approval',
                purpose: 'decides each by itself, newest of a node first',
              },
            ],
            verify: watchRequests,
          }
        })
      },
    }),
  ],
}

function lastDecision(requests: readonly RequestFacts[], now: number): RequestFacts | undefined {
  return requests
    .filter(({ decided, state }) => state !== 'denied' && decided !== undefined && now - decided < hour)
    .sort((a, b) => (b.decided ?? 0) - (a.decided ?? 0))[0]
}
