import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'

/** A node keeps two requests for an hour after each renewal; with nobody answering, two hundred a day. */
const perNode = 20
const least = 1000

export const z02: Check = {
  meta: {
    id: 'Z02',
    severity: 'warning',
    title: 'The list of requests is short',
    failureTitle: 'The API holds far too many certificate requests',
    symptom: 'etcd grows, lists take seconds, the API answers 429.',
    description:
      'Kubernetes deletes requests an hour after they were answered and a day after they were made (csrcleaner). Where that does not run, or nodes ask without end, they pile up: half a million were seen in one cluster.',
    remedy: 'Stop what makes them (see the other findings), run csrcleaner, and delete the old ones.',
    reports: ['kubernetes/kubernetes#132947'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit({ requests, nodes }) {
        if (requests.length < least || requests.length <= perNode * nodes.length) return []
        const states = [...Map.groupBy(requests, ({ state }) => state)].map(
          ([state, of]) => `${of.length} ${state}`,
        )
        return [
          {
            object: 'CertificateSigningRequests',
            evidence: [
              {
                value: `${requests.length} of ${nodes.length} nodes: ${states.join(', ')}`,
                source: 'CertificateSigningRequests',
              },
            ],
            cause: 'They are made faster than they are removed.',
            fix: [
              {
                run: 'kubectl get csr --sort-by=.metadata.creationTimestamp -o name | head -n -500 | xargs -n 100 kubectl delete',
                purpose: 'keeps the newest 500; rollcall controller --only cleaning goes on removing them',
              },
            ],
            verify: watchRequests,
          },
        ]
      },
    }),
  ],
}
