import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { watchRequests } from '../commands.ts'
import type { RequestFacts } from '../request-facts.ts'

export const b14: Check = {
  meta: {
    id: 'B14',
    severity: 'warning',
    title: 'At most one request of a node waits for each signer',
    failureTitle: 'Several requests of one node wait at the same time',
    symptom: '`kubectl get csr` shows the same node many times, and nobody knows which request is live.',
    description:
      'A kubelet gives a request up after 15 minutes and makes another; the old ones stay for 24 hours. Only the newest is waited for: approving an older one issues a certificate for a key that nobody has any more.',
    remedy: 'Decide the newest one and deny or delete the others; then see why nobody decided.',
    reports: [
      'kubernetes/kubernetes#51966',
      'kubernetes/kubernetes#132947',
      'openshift/cluster-machine-approver#310',
    ],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit({ requests }) {
        const waiting = requests.filter(
          ({ state, node, kind }) => state === 'undecided' && kind && node !== undefined,
        )
        const piles = Map.groupBy(waiting, ({ node, kind }) => `${node} ${kind}`)
        return [...piles.values()].filter(pile => pile.length > 1).map(describePile)
      },
    }),
  ],
}

function describePile(pile: readonly RequestFacts[]) {
  const newest = pile.at(-1)
  const node = newest?.node ?? ''
  const old = pile.slice(0, -1).map(({ name }) => shellWord(name))
  const shown = old.slice(0, 5).join(' ')
  return {
    object: `Node ${node}`,
    node,
    evidence: [
      {
        value: `${pile.length} undecided ${newest?.kind} requests; ${newest?.name} is the newest`,
        source: 'CertificateSigningRequests',
      },
    ],
    cause: 'Nobody decides in the 15 minutes that a kubelet waits for an answer.',
    fix: [
      { run: `rollcall csr explain ${shellWord(newest?.name ?? '')}`, purpose: 'says who should decide it' },
      {
        run: `kubectl delete csr ${shown}`,
        purpose: `removes ${old.length > 5 ? 'the first five of ' : ''}those given up`,
      },
    ],
    verify: watchRequests,
  }
}
