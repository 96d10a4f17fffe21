import { controllerLease } from '../../survey/csr-facts.ts'
import { type Check, view } from '../check.ts'
import { leaseLines } from '../lease-lines.ts'

export const d02: Check = {
  meta: {
    id: 'D02',
    severity: 'critical',
    title: 'The controllers that approve and sign are running',
    failureTitle: 'The controllers that approve and sign have stopped',
    symptom: 'All requests stop where they are: none is approved, none is signed.',
    description:
      'Every Lease of a program that approves or signs (kube-controller-manager, Rollcall) has run out: its holder died or lost the API.',
    remedy: 'Start it again; look at its log for why it stopped.',
    explains: ['C03', 'C04', 'D01', 'A08', 'I03', 'B14', 'E18', 'G01'],
    reports: ['kubernetes/kubernetes#62152'],
  },
  views: [
    view({
      requiredArtifacts: ['controllerLeases'],
      audit({ controllerLeases }, now) {
        // A Lease that was handed back names nobody: somebody stopped it on purpose.
        const held = controllerLeases
          .map(lease => controllerLease(lease, now))
          .filter(({ holder }) => holder !== '')
        if (
          held.length === 0 ||
          held.some(({ live, renewedAgo }) => live || renewedAgo === undefined || renewedAgo < 60)
        )
          return []
        return [
          {
            object: held.map(({ name }) => `Lease kube-system/${name}`).join(', '),
            everywhere: true,
            evidence: leaseLines(controllerLeases, now),
            cause: 'Nobody renews the Lease any more.',
            fix: [
              {
                run: 'kubectl -n kube-system get pods -l component=kube-controller-manager',
                purpose: 'shows whether it runs; where Rollcall controls, start rollcall controller',
              },
            ],
            verify: { run: 'kubectl -n kube-system get lease', purpose: 'shows a Lease that is renewed' },
          },
        ]
      },
    }),
  ],
}
